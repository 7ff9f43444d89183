"""Bodies that are texts: each ends at what the declaration says, or where the next marker is."""

from __future__ import annotations

from playground.parsing.bodies import BodyReader, OpenCall
from playground.parsing.forms import Form
from playground.parsing.json_walk import BrokenCall
from playground.parsing.patterns import Wait
from playground.parsing.scanner import Match, Steps


class TextReader(BodyReader):
    """Reads the texts of the open call."""

    def _texts(self, call: OpenCall, form: Form) -> Steps[None]:
        template = form.syntax.call_template
        for key, pieces, wait in zip(template.texts, template.between, form.texts, strict=True):
            text, match = yield from self._text(call, key, wait)
            if match is None and pieces:
                call.raw.append((key, text))
                raise BrokenCall("truncated-call")
            if pieces and match:
                self.scanner.emit_markup(match.end() - match.start())
            if form.syntax.joined and match:
                text = yield from self._joined(call, key, wait, form, text)
            cut = not pieces and match is None
            if cut and not text.strip():
                raise BrokenCall("truncated-call")
            if form.syntax.objects and (not text.strip() or text.lstrip().startswith("{")):
                call.raw.append((None, text or "{}"))
                self._decode_text(call, form, cut)
            else:
                self._set_text(call, key, text if pieces else text.strip())
                if cut:
                    self.scanner.note("open-ended", f"call {call.index}")
        self.argument = None

    def _joined(self, call: OpenCall, key: str, wait: Wait, form: Form, text: str) -> Steps[str]:
        """The text with those of the calls that follow at once: they are one call."""
        scanner = self.scanner
        while separator := (yield from scanner.match_here(form.separator)):
            scanner.emit_markup(separator.end() - separator.start())
            opener = yield from scanner.match_here(form.opening)
            scanner.emit_markup(opener.end() - opener.start() if opener else 0)
            more, match = yield from self._text(call, key, wait)
            text += form.syntax.joined + more
            if match is None:
                raise BrokenCall("truncated-call")
            scanner.emit_markup(match.end() - match.start())
        return text

    def _decode_text(self, call: OpenCall, form: Form, cut: bool) -> None:
        try:
            self._decode(call, form.syntax.shape)
        except BrokenCall as broken:
            raise BrokenCall("truncated-call") if cut else broken from broken

    def _text(self, call: OpenCall, key: str, wait: Wait) -> Steps[tuple[str, Match | None]]:
        """An argument's text, and what ends it."""
        kept: list[str] = []
        emit, self.argument = self._emit_argument(call, key), key

        def keep(count: int) -> None:
            kept.append(self.scanner.text[self.scanner.at : self.scanner.at + count])
            emit(count)

        def own(match: Match) -> bool:
            return self._closes(match, call)

        match = yield from self.scanner.until(wait, keep, own, inside_call=True)
        return "".join(kept), match
