"""transformers' own parser of response templates, as a program that answers line by line.

`transformers_parser.py` starts it in an environment that has transformers. A question has a
`template`, or the `fallback` of `transformers serve` for a type of model; the `text` after a
`prefix`, `tools` in OpenAI's form, and where to cut the text if it is fed in pieces (`cuts`).
"""

from __future__ import annotations

import importlib
import json
import logging
import sys
from itertools import pairwise
from typing import Any


def parse(question: dict[str, Any]) -> dict[str, Any]:
    """Return what a client gets of a reply: content, reasoning and calls, or the error."""
    made: Any = importlib.import_module("transformers.utils.chat_parsing")
    text = question["text"]
    try:
        template = question.get("template") or fallback(question["fallback"])
        parser = made.ResponseParser(template, prefix=question["prefix"], tools=question["tools"])
        for start, stop in pairwise([0, *question.get("cuts", []), len(text)]):
            parser.feed(text[start:stop])
        message, _ = parser.finalize()
        calls = [call["function"] for call in message.get("tool_calls") or []]
        return {
            "content": message.get("content", ""),
            "reasoning": message.get("reasoning_content", ""),
            "calls": [[call["name"], call["arguments"]] for call in calls],
            "raises": "",
        }
    except Exception as error:  # whatever it is, a client sees it as one
        raises = f"{type(error).__name__}: {error}"
        return {"content": "", "reasoning": "", "calls": [], "raises": raises}


def fallback(model_type: str) -> dict[str, Any]:
    """Return the template that `transformers serve` has for a type of model without one."""
    utils: Any = importlib.import_module("transformers.cli.serving.utils")
    made: dict[tuple[str, ...], dict[str, Any]] = utils._RESPONSE_TEMPLATE_FALLBACKS
    return next(template for types, template in made.items() if model_type in types)


def main() -> None:
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        question = json.loads(line)
        if question.get("ask") == "version":
            answer = {"version": importlib.import_module("transformers").__version__}
        else:
            answer = parse(question)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
