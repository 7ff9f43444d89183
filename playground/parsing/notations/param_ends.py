"""Where a parameter's value ends, when a model has written its closer amiss."""

from __future__ import annotations

import re

from playground.parsing.declaration import Declaration
from playground.parsing.notations.param_values import param_shape
from playground.parsing.notations.param_waits import param_template
from playground.parsing.open_call import OpenCall
from playground.parsing.patterns import worded


def closer_of(key: str, syntax: Declaration) -> str:
    """What ends a parameter, without white space around it."""
    return key.join(param_shape(syntax).closer).strip()


def before_last(closer: str, text: str) -> tuple[str, str]:
    """What stands before the last closer in the wrong case, and behind it."""
    found = list(re.finditer(re.escape(closer), text, re.IGNORECASE))
    return (text[: found[-1].start()], text[found[-1].end() :]) if found else ("", "")


def without_closers(text: str, key: str, syntax: Declaration) -> str:
    """A value that is no text holds no closer of its own: one at its end was written twice."""
    closer = closer_of(key, syntax)
    pieces = text.split(closer) if worded(closer) else [text]
    if len(pieces) == 1 or pieces[-1].strip():
        return text
    while len(pieces) > 1 and not pieces[-1].strip():
        pieces.pop()
    return closer.join(pieces).rstrip()


def holds_arguments(strays: str, call: OpenCall, syntax: Declaration) -> bool:
    """Whether the text that stood where no parameter could be read was one all the same: all that
    the call had, an object, or with a parameter's opener in it. Without it the call is another."""
    if not strays.strip():
        return False
    if not call.raw or strays.lstrip().startswith("{"):
        return True
    opener = "".join(p for p in param_template(syntax).before if isinstance(p, str))
    words = re.match(r"\W*[\w:｜|]+", opener)
    if words is not None and words[0].strip() in strays:
        return True
    # or with its closer, and something before that: its opener was forgotten
    closer = next((p.strip() for p in param_template(syntax).after if isinstance(p, str)), "")
    return worded(closer) and bool(strays.partition(closer)[0].strip()) and closer in strays
