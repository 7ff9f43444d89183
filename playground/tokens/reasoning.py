"""The generations of OpenAI's models that reason, and what each is billed beside the text.

Told by bills: 67 of o1 to o4; of a call that came without its reasoning 12 of gpt-5 and 73 of 5.4
to 5.6; of tools those that `docs/tokens.md` counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Tokens around the tools in Responses and in Chat Completions (with instructions there that
    nobody sees), of a call that came without its reasoning, and whether the model's own turns are
    framed as harmony does."""

    tools: int
    chat_tools: int
    alone: int
    harmony: bool


O_SERIES: Final = Reasoning(tools=6, chat_tools=10, alone=0, harmony=False)
GPT_5: Final = Reasoning(tools=9, chat_tools=91, alone=0, harmony=True)
LATER: Final = Reasoning(tools=9, chat_tools=91, alone=3, harmony=True)
