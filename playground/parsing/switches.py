"""Settings for reading a reply, in which servers differ; each result has those that were used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Switches:
    """The settings by which a reply is read: decisions that a dialect's markers leave open.

    - `calls_in_fences`: a call inside a code fence is an example in prose (text) or a real call.
    - `calls_in_reasoning`: a call in open reasoning is delivered (`call`), is delivered only if the
      reasoning is never closed (`unclosed`), or belongs to the reasoning.
    - `text_after_calls`: text after a call is content, or a finding with that text.
    - `broken_calls`: the text of an aborted call is left out of the content, or belongs to it.
    - `misfits`: a call without all required arguments is delivered, or read as broken.
    - `entities`: `&lt;` in a parameter's text stays as it is, or becomes the character `<`.
    - `typing`: values get the types of the tool's schema, or stay texts.
    """

    calls_in_fences: Literal["text", "call"] = "text"
    calls_in_reasoning: Literal["unclosed", "call", "reasoning"] = "unclosed"
    text_after_calls: Literal["text", "finding"] = "text"
    broken_calls: Literal["apart", "text"] = "apart"
    misfits: Literal["call", "text"] = "call"
    entities: Literal["text", "decoded"] = "text"
    typing: Literal["schema", "text"] = "schema"
