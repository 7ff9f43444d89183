"""The end of a parameter's value when a model has written its closer wrongly."""

from __future__ import annotations

import re

from playground.parsing.declaration import Declaration
from playground.parsing.notations.param_choices import param_template
from playground.parsing.notations.param_values import param_shape
from playground.parsing.open_call import OpenCall
from playground.parsing.patterns import has_words


def closer_of(key: str, syntax: Declaration) -> str:
    """Return the closer of a parameter, without white space around it."""
    return key.join(param_shape(syntax).closer).strip()


def before_last(closer: str, text: str) -> tuple[str, str]:
    """Return the text before and after the last closer, in whatever letter case; "" without one."""
    matches = list(re.finditer(re.escape(closer), text, re.IGNORECASE))
    return (text[: matches[-1].start()], text[matches[-1].end() :]) if matches else ("", "")


def without_closers(text: str, key: str, syntax: Declaration) -> str:
    """Remove a parameter's closers from the end of its value: the model wrote the closer twice.

    Closers whose openers stand in the value belong to it: it shows the dialect's own markers.
    """
    closer = closer_of(key, syntax)
    bare = text.rstrip()
    if not bare.endswith(closer) or not has_words(closer):
        return text
    if bare.count(_opener_of(key, syntax)) >= bare.count(closer):
        return text
    space = ""
    while bare.endswith(closer):
        inner = bare[: -len(closer)]
        bare = inner.rstrip()
        space = inner[len(bare) :]
    return bare + (space.removesuffix("\n") if param_shape(syntax).own_lines else space)


def _opener_of(key: str, syntax: Declaration) -> str:
    """Return the words with which a parameter's opener begins, or all of it if its key comes
    first: `<{key}>`."""
    pieces = param_template(syntax).before
    first = str(pieces[0]).strip() if isinstance(pieces[0], str) else ""
    if has_words(re.escape(first)) and not closer_of(key, syntax).startswith(first):
        return first
    return "".join(piece if isinstance(piece, str) else key for piece in pieces).strip()


def holds_arguments(strays: str, call: OpenCall, syntax: Declaration) -> bool:
    """Return True if text between the parameters is probably an unreadable argument.

    That is so if the call has no other argument, or if the text is an object or holds a parameter's
    opener or closer. The call must then not be delivered, because it lacks an argument.
    """
    if not strays.strip():
        return False
    if not call.raw or strays.lstrip().startswith("{"):
        return True
    opener = "".join(p for p in param_template(syntax).before if isinstance(p, str))
    words = re.match(r"\W*[\w:｜|]+", opener)
    if words is not None and words[0].strip() in strays:
        return True
    # a closer with text before it: its opener was forgotten
    closer = next((p.strip() for p in param_template(syntax).after if isinstance(p, str)), "")
    return has_words(closer) and bool(strays.partition(closer)[0].strip()) and closer in strays
