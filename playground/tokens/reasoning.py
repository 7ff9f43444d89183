"""The generations of OpenAI's reasoning models, and the tokens that each adds to the text.

The sources are bills: 67 of o1 to o4, 12 of gpt-5 and 73 of 5.4 to 5.6 for calls without their
reasoning, and for tools the bills in `docs/tokens.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The additional tokens of a generation of models.

    `tools` and `chat_tools` are the tokens around tools in Responses and in Chat Completions (there
    with hidden instructions), `alone` those around a call without its reasoning. With `harmony` the
    model's own turns are framed as in harmony.
    """

    tools: int
    chat_tools: int
    alone: int
    harmony: bool


O_SERIES: Final = Reasoning(tools=6, chat_tools=10, alone=0, harmony=False)
GPT_5: Final = Reasoning(tools=9, chat_tools=91, alone=0, harmony=True)
LATER: Final = Reasoning(tools=9, chat_tools=91, alone=3, harmony=True)
