"""Decisions that servers make differently about the same reply: explicit, and named in every
result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Switches:
    """The decisions by which a reply is read, if its form leaves a choice.

    - `calls_in_fences`: a call inside a code fence is an example in prose (text) or a real call.
    - `calls_in_reasoning`: a call before reasoning was closed is delivered, or is still reasoning.
    - `text_after_calls`: text after a call is content, or a finding that holds it.
    - `broken_calls`: the text of a call that was aborted stands apart, or is content too.
    - `misfits`: a call without all required arguments is delivered, or broken.
    - `entities`: `&lt;` in a parameter's text is itself, or the character that it stands for.
    - `typing`: values are read by the tool's schema, or stay text.
    """

    calls_in_fences: Literal["text", "call"] = "text"
    calls_in_reasoning: Literal["call", "reasoning"] = "call"
    text_after_calls: Literal["text", "finding"] = "text"
    broken_calls: Literal["apart", "text"] = "apart"
    misfits: Literal["call", "text"] = "call"
    entities: Literal["text", "decoded"] = "text"
    typing: Literal["schema", "text"] = "schema"
