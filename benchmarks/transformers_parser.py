"""transformers' own parser of response templates, as a program that answers line by line.

Run: it is started by against_transformers.py in an environment that has transformers. A question
has a `template` and a `prefix`, or the `fallback` of `transformers serve` for a type of model; a
`text`, `tools` in OpenAI's form, and where to cut the text (`cuts`) if it is fed in pieces.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import json
import logging
import sys
import types
from typing import Any


class NoTorch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for torch, which `serve` imports and its parser does not use."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.partition(".")[0] == "tqdm" or name.partition(".")[0] != "torch":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        return types.ModuleType(spec.name)

    def exec_module(self, module: Any) -> None:
        pass


def parse(question: dict[str, Any]) -> dict[str, Any]:
    """Return what a client gets of a reply: content, reasoning and calls, or the error."""
    from transformers.utils.chat_parsing import ResponseParser

    template = question.get("template") or fallback(question["fallback"])
    text, cuts = question["text"], question.get("cuts", [])
    places = [0, *cuts, len(text)]
    try:
        parser = ResponseParser(template, prefix=question["prefix"], tools=question["tools"])
        for start, stop in zip(places, places[1:], strict=False):
            parser.feed(text[start:stop])
        message, _ = parser.finalize()
    except Exception as error:  # a client sees any error as one
        return {"raises": f"{type(error).__name__}: {error}"}
    calls = [call["function"] for call in message.get("tool_calls") or []]
    return {
        "content": message.get("content", ""),
        "reasoning": message.get("reasoning_content", ""),
        "calls": [[call["name"], call["arguments"]] for call in calls],
    }


def fallback(model_type: str) -> dict[str, Any]:
    """Return the template that `transformers serve` has for a type of model without one."""
    from transformers.cli.serving import utils

    templates: dict[tuple[str, ...], dict[str, Any]] = utils._RESPONSE_TEMPLATE_FALLBACKS
    return next(made for types, made in templates.items() if model_type in types)


def main() -> None:
    logging.disable(logging.CRITICAL)
    version = importlib.import_module("transformers").__version__
    for line in sys.stdin:
        question = json.loads(line)
        answer = {"version": version} if question.get("ask") else parse(question)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
