"""Statements of Meta's document of prompt formats, each tried by a line of code."""

# mypy: ignore-errors
# A statement is one expression over code that has no types.

from __future__ import annotations

from typing import Any, Final

from seed_statements import Statement, confirm, differs, each, renamed, works

import playground as pg
from playground.dialects.raw_prompts import LLAMA3
from playground.dialects.reading import parse
from playground.lab import guides
from playground.lab.guides import Dialog, Guide, UseCase
from playground.nouns.messages import ToolCallPart
from playground.nouns.tools import ToolMetadata

SHOWN: Final = guides.guide_for("llama3-json")
HEAD: Final = "<|start_header_id|>{}<|end_header_id|>\n\n"
SEARCH: Final = ToolCallPart("1", "brave_search", {"query": "tides"})


def shown(*cases: Any) -> str:
    return Guide(SHOWN.dialect, list(cases)).markdown()


def llama(*messages: Any) -> str:
    case = UseCase(title="T", dialogs=[list(messages)])
    return SHOWN.prompt(case, case.dialogs[0])


def raw(role: str, content: str = "", **more: Any) -> Any:
    return guides.RawMessage(role=role, content=content, **more)


def called(reply: str, dialect: str) -> Any:
    return [(call.name, call.arguments) for call in parse(reply, dialect).tool_calls]


LLAMA: Final[list[Statement]] = [
    *(
        works(f"{token} is a special token", lambda token=token: f"<|{token}|>" in LLAMA3.tokens)
        for token in (
            "begin_of_text",
            "end_of_text",
            "finetune_right_pad_id",
            "start_header_id",
            "end_header_id",
            "eom_id",
            "eot_id",
            "python_tag",
        )
    ),
    *(
        works(
            f"{role} is a role",
            lambda role=role, written=written: HEAD.format(written) in llama(raw(role, "x")),
        )
        for role, written in (
            ("system", "system"),
            ("user", "user"),
            ("assistant", "assistant"),
            ("tool", "ipython"),
        )
    ),
    works(
        "a prompt begins with its token",
        lambda: llama(raw("user", "x")).startswith("<|begin_of_text|>"),
    ),
    works(
        "it ends with the assistant's header",
        lambda: llama(raw("user", "x")).endswith(HEAD.format("assistant")),
    ),
    works("a turn ends with eot_id", lambda: "x<|eot_id|>" in llama(raw("user", "x"))),
    works(
        "a message with a call of a tool ends with eom_id",
        lambda: "<|eom_id|>" in llama(raw("user", "x"), raw("assistant", tool_calls=[SEARCH])),
    ),
    works(
        "a base model's prompt has no roles",
        lambda: LLAMA3.completion("Sky") == "<|begin_of_text|>Sky",
    ),
    works(
        "the three built-in tools are called by name or by code",
        lambda: (
            called('<|python_tag|>brave_search.call(query="a")', "llama3-builtin")
            == [("brave_search", {"query": "a"})]
            and called('<|python_tag|>wolfram_alpha.call(query="a")', "llama3-builtin")
            == [("wolfram_alpha", {"query": "a"})]
            and called("<|python_tag|>print(1)", "llama3-code")[0][1] == {"code": "print(1)"}
        ),
    ),
    works(
        "built-in tools stand in the system prompt, after the environment",
        lambda: (
            pg.raw_prompt(
                pg.session(
                    [{"role": "user", "content": "x"}],
                    tools=[ToolMetadata(name="brave_search"), ToolMetadata(name="wolfram_alpha")],
                ).prompt_data(),
                "llama3",
            ).text.count("Environment: ipython\nTools: brave_search, wolfram_alpha\n")
            == 1
        ),
    ),
    works(
        "the environment alone turns code on: no tool is named",
        lambda: (
            "code_interpreter"
            not in "".join(m.text for m in guides.llama3_1_builtin_code_interpreter_dialog())
        ),
    ),
    works(
        "the reader of code is named for the code interpreter",
        lambda: (
            pg.raw_prompt(
                pg.session(
                    [{"role": "user", "content": "x"}],
                    tools=[ToolMetadata(name="code_interpreter")],
                ).prompt_data(),
                "llama3",
            ).dialect
            == "llama3-code"
        ),
    ),
    works(
        "a reply of a tool's call begins with python_tag",
        lambda: (
            "<|python_tag|>"
            not in parse('<|python_tag|>brave_search.call(query="a")', "llama3-builtin").content
        ),
    ),
    works(
        "eom_id says that the model waits for a result, eot_id that it has finished",
        lambda: (
            called('<|python_tag|>{"name": "a", "parameters": {}}<|eom_id|>', "llama3-json")
            == called('<|python_tag|>{"name": "a", "parameters": {}}<|eot_id|>', "llama3-json")
            == [("a", {})]
        ),
    ),
    works(
        "a custom tool in JSON has name, description and parameters, in a message of the user",
        lambda: all(
            f'"{key}"' in guides.llama3_1_custom_tool_call_dialog()[1].text
            for key in ("name", "description", "parameters")
        ),
    ),
    works(
        "a custom tool by <function> is told of in a message of the user",
        lambda: "<function=" in guides.llama3_1_custom_tool_call_dialog("function_tag")[1].text,
    ),
    works(
        "its call has no python_tag and ends with eot_id",
        lambda: (
            called('<function=a>{"n": 1}</function><|eot_id|>', "llama3-function")
            == [("a", {"n": 1})]
        ),
    ),
    differs(
        "only single calls are supported",
        lambda: len(called(2 * '{"name": "a", "parameters": {}}', "llama3-json")) == 2,
        "raw-prompts.md",
        "several calls in one reply are read, too",
    ),
    works(
        "a guide is a list of texts and use cases",
        lambda: "\n# One\n" in shown("# One\n", UseCase(title="T")),
    ),
    works(
        "a use case has title, description, dialogs and notes",
        lambda: all(
            word in shown(UseCase(title="TT", description="DD", dialogs=["GG"], notes="- NN"))
            for word in ("TT", "DD", "GG", "- NN")
        ),
    ),
    works(
        "a dialog is a list of messages",
        lambda: isinstance(UseCase(dialogs=[[raw("user", "x")]]).dialogs[0], Dialog),
    ),
    works(
        "the dialogs that it imports are there",
        lambda: (
            guides.llama3_1_builtin_tool_call_dialog() and guides.llama3_1_custom_tool_call_dialog()
        ),
    ),
    works(
        "a result is a message of the role tool",
        lambda: f"{HEAD.format('ipython')}7<|eot_id|>" in llama(raw("user", "x"), raw("tool", "7")),
    ),
    *(
        renamed(
            f"{name} is imported from llama_stack",
            lambda name=name: getattr(guides, name),
            "raw-prompts.md",
            "playground.lab.guides",
        )
        for name in (
            "BuiltinTool",
            "RawMessage",
            "StopReason",
            "ToolCall",
            "ToolPromptFormat",
            "TextCompletionContent",
            "UseCase",
        )
    ),
    differs(
        "a dialog has the day on which it is written",
        lambda: (
            "Today Date: 1 May 2026"
            in guides.llama3_1_builtin_tool_call_dialog(today="1 May 2026")[0].text
        ),
        "raw-prompts.md",
        "here it is an argument",
    ),
]


@each(LLAMA)
def test_a_statement_of_metas_document_is_true_here(statement: Statement) -> None:
    confirm(statement)
