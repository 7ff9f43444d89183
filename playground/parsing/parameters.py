"""Bodies that are parameters, one after the other, each value between its own markers."""

from __future__ import annotations

from typing import Any, Final

from playground.parsing import elements, relaxed_json
from playground.parsing.bodies import BodyReader, OpenCall
from playground.parsing.forms import Form
from playground.parsing.json_walk import BrokenCall
from playground.parsing.patterns import Wait
from playground.parsing.scanner import Match, Steps
from playground.parsing.values import read_marked, read_value
from playground.tools import Schema, allowed_types

_WRAPPERS: Final = ("arguments", "parameters", "properties", "input")
_CDATA: Final = ("<![CDATA[", "]]>")


class ParameterReader(BodyReader):
    """Reads the parameters of the open call."""

    def _params(self, call: OpenCall, form: Form) -> Steps[None]:
        scanner, wait = self.scanner, form.next_param
        assert wait is not None
        while True:
            if form.close is None and not (yield from self._another(call, wait)):
                return
            yield from scanner.skip_space()
            match = yield from scanner.until(wait, scanner.emit_unexpected, inside_call=True)
            if match is None:
                raise BrokenCall("truncated-call")
            length = match.end() - match.start()
            kind = wait.kind(match)
            if kind == "param":
                scanner.emit_markup(length)
                yield from self._param(call, match, form)
            elif kind != "close":  # another marker: the closer was forgotten
                scanner.note("missing-closer")
                self._unwrap(call)
                return
            elif self._closes(match, call):
                scanner.emit_markup(length)
                self._unwrap(call)
                return
            else:
                scanner.emit_unexpected(length)

    def _another(self, call: OpenCall, wait: Wait) -> Steps[bool]:
        """Whether a parameter follows: a call without a closer ends with its last one."""
        match = yield from self.scanner.match_here(wait)
        if match is None and self.scanner.ended:
            if call.in_section:
                raise BrokenCall("truncated-call")
            self.scanner.note("open-ended", f"call {call.index}")
        return match is not None and wait.kind(match) == "param"

    def _follows(self, call: OpenCall, key: str, following: str, form: Form) -> bool:
        """Whether a parameter's opener inside a value is the next parameter, not the value's own:
        the tool has it and nobody has given it yet, or the opener is a control token."""
        if following == key or following in call.arguments:
            return False
        return form.syntax.reserved if call.tool is None else following in call.properties

    def _param(self, call: OpenCall, opener: Match, form: Form) -> Steps[None]:
        scanner, kept, groups = self.scanner, list[str](), opener.groupdict()
        key, wait = groups["key"], form.value
        assert wait is not None
        emit, self.argument = self._emit_argument(call, key), key

        def keep(count: int) -> None:
            kept.append(scanner.text[scanner.at : scanner.at + count])
            emit(count)

        def own(match: Match) -> bool:
            found = match.groupdict()
            if found.get("next_key"):
                return self._follows(call, key, found["next_key"], form)
            return found.get("close_key") in (None, key)

        match = yield from scanner.until(wait, keep, own, inside_call=True)
        if form.syntax.on_own_lines and match and match[0].startswith("\n"):
            keep(0 if opener[0].endswith("\n") else 1)  # its first line break decides on its last
        text = "".join(kept)
        call.raw.append((key, text))
        if match is None:
            raise BrokenCall("truncated-call")
        if wait.kind(match) == "forgotten":
            scanner.note("missing-closer", f"call {call.index}, argument {key}")
        scanner.emit_markup(match.end() - scanner.at)
        kind = groups.get("type") or groups.get("is_text")
        schema = call.schema_of(key)
        if form.syntax.cdata and text.startswith(_CDATA[0]) and text.endswith(_CDATA[1]):
            text = text[len(_CDATA[0]) : -len(_CDATA[1])]
        if self._has_elements(text, schema, form.syntax.element):
            value, code = self._elements(text, schema, form.syntax.element)
        elif kind:
            value, code = read_marked(text, kind in ("string", "true"), schema)
        else:
            value, code = read_value(text, schema, form.syntax.untyped)
        self._set(call, key, value, code)
        self.argument = None

    def _has_elements(self, text: str, schema: Schema, prefix: str) -> bool:
        return bool(prefix) and (
            not text or (f"{prefix}<" in text and "string" not in allowed_types(schema))
        )

    def _elements(self, text: str, schema: Schema, prefix: str) -> tuple[Any, str]:
        try:
            return elements.read(text, schema, prefix), ""
        except ValueError:
            return read_value(text, schema)

    def _unwrap(self, call: OpenCall) -> None:
        """Arguments that came as an object inside one argument which the tool does not have."""
        if len(call.arguments) != 1 or call.tool is None:
            return
        ((key, value),) = call.arguments.items()
        if key not in _WRAPPERS or key in call.properties:
            return
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = _read_object(value)
        if isinstance(value, dict) and value and set(value) <= call.properties:
            call.arguments = value
            self.scanner.note("arguments-wrapped", f"call {call.index}")


def _read_object(text: str) -> Any:
    try:
        return relaxed_json.load(text)
    except (ValueError, RecursionError):
        return None
