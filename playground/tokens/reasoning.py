"""The generations of OpenAI's reasoning models, and the tokens that each adds to the text.

The figures are from bills: those for calls without their reasoning from 67 bills of o1 to o4, 12 of
gpt-5 and 73 of gpt-5.4 to gpt-5.6. `docs/tokens.md` lists the bills for tools.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The additional tokens of a generation of models.

    `tools` are the tokens around tools in Responses, `chat_tools` those in Chat Completions, which
    adds hidden instructions, and `bare_call` those around a call without its reasoning. With
    `harmony`, the model's own turns are framed as in the format harmony of gpt-oss.
    """

    tools: int
    chat_tools: int
    bare_call: int
    harmony: bool


O_SERIES: Final = Reasoning(tools=6, chat_tools=10, bare_call=0, harmony=False)
GPT_5: Final = Reasoning(tools=9, chat_tools=91, bare_call=0, harmony=True)
LATER: Final = Reasoning(tools=9, chat_tools=91, bare_call=3, harmony=True)
