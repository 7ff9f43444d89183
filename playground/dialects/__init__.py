"""Dialects: how tools, calls and results are written for a model, and read back.

What a dialect is
    A model has learnt one way in which its prompt describes tools, and one way to write a call.
    A `Dialect` holds both in one value. It writes all parts of a request (system prompt, tool
    documentation, history, cache marks) and makes the parser that reads the reply. It holds
    nothing of a session: the same `PromptData` gives the same bytes. `base.py` has what is the
    same in every dialect, and knows no dialect by name.

How a dialect is declared
    Nearly every dialect is a `DeclaredDialect` (`declared.py`): data without code. Its `Syntax`
    is a template with holes, such as

        <tool_call>\\n{call:json}\\n</tool_call>

    `playground.parsing` uses it both to write a call and to read one, so that the two cannot
    drift apart. Other fields are the words of the rules, the frame of a result, reasoning tags,
    stop tokens, the switches by which doubtful replies are read, and the models that speak it:
    `models` in words for people, `model_names` as patterns for `dialect_for` (`models.py`). A
    template with a wrong hole is refused when it is declared. Dialects that share their rules are
    made by a `partial` of the class, never by a function with `**more`: mypy then checks every
    keyword of every file. Only `NativeDialect` overrides methods, because its calls are fields
    and not text.

    A wish for `if dialect.name ==` shows that a field is missing. Add the field, with a default
    that changes no dialect, and say in its docstring what it is for.

How origins are tracked
    Compare, the cache lab and the payload page need the origin of every character. Therefore
    origins are recorded while text is written, not searched for later. Text is written as
    `Block`s (`rendering.py`), each with its origin (`tool:NAME`, `message:3`, `rules` …), and a
    text is the join of its blocks: `format_tool_docs` and `format_system_prompt` join blocks that
    `render` keeps separate. The line break between two parts belongs to the first of them. If a
    class overrides one of these two methods, the method is called once, and its text is a single
    block, because only that class knows the parts of the text.

    `render` then works on `Draft`s, a message and its blocks side by side, through the steps of a
    request. Their order must not change: empty messages are left out, neighbours of one role merge,
    checks run, marks are set, and only then the environment block is added. It comes after the
    marks, because it changes at every request and would spoil the prefix that they cache.

What must not be changed
    - Rendered text without its golden file: every character is paid for, and a cached prefix that
      changes is paid for again.
    - The order of the system prompt's parts, and the order of the registry. The latter is the order
      of `dialect_names`, and decides which of two dialects gets a model that both claim.
    - The single pass: text that was filled into the agent prompt is not searched for placeholders
      again, since a tool's description may say `{USER_PROMPT}`.
    - The names of the methods of `Dialect`, because dialects of other packages override them.

A new dialect is a file in this folder and a line in `_FILES` below, with the names of its
`DIALECTS` in their order (docs/contributing/dialect.md). A file is loaded when one of its dialects
is used. Other packages add theirs through the entry point group `playground.dialects`, and a user
by a file in a folder (`files/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from playground.base.arguments import wrong
from playground.base.errors import InputFault, PlaygroundError, UnknownNameError
from playground.base.findings import Finding
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect

if TYPE_CHECKING:  # imported when a dialect of a package or a file is looked up
    from playground.dialects.by_hand.plugins import Plugins
    from playground.dialects.files.folders import FileState

    REGISTRY: tuple[Dialect, ...]
    """Every dialect of our own; iterating over it loads every file."""

_FILES: Final = (  # with all names, so that using a dialect loads only its own file
    ("xml", "xml"),
    ("json_text", "json"),
    ("native", "native"),
    ("hermes", "hermes"),
    ("qwen3_coder", "qwen3-coder"),
    ("llama3", "llama3-json llama3-function llama3-builtin llama3-code"),
    ("dspy", "dspy-chat dspy-json dspy-xml"),
    (
        "json_tags",
        "exaone-4 longcat granite-20b-fc gigachat3 internlm2 inkling gptme-tool ernie45 "
        "rwkv7 step-audio-2 tool-calls-array pangu hyperclovax nemotron-v2 functools granite "
        "xlam apertus cohere-action command-r",
    ),
    (
        "invoke_tags",
        "anthropic-invoke anthropic-legacy muse minimax-m2 dots deepseek-dsml deepseek-v4.1 "
        "gigachat3.5 step3 minicpm5 minimax-m3",
    ),
    (
        "parameter_tags",
        "seed-oss openhands mimo k-exaone-2 glm hunyuan hy3 hy4 solar-open2 k2-horizon "
        "iquest-coder iquest-q1 telechat4",
    ),
    (
        "header_tokens",
        "kimi-k2 deepseek-v3 deepseek-v3.1 mistral functionary-v3.2 plamo3 kimi-k3 solar-open "
        "harmony",
    ),
    ("python_calls", "pythonic llama4-pythonic lfm2 granite-pythonic olmo3"),
    ("gemma", "gemma3 gemma4 functiongemma"),
    (
        "plain_text",
        "react react-json langchain-xml cwm gptme-xml smolagents-code aider-editblock "
        "sweagent continue",
    ),
)
_FILE_OF: Final = {name: file for file, names in _FILES for name in names.split()}


def __getattr__(name: str) -> Any:
    if name != "REGISTRY":
        raise AttributeError(f"module 'playground.dialects' has no attribute {name!r}")
    return tuple(map(_load_own, _FILE_OF))


@cache
def _load_own(name: str) -> Dialect:
    """Load a dialect of our own from its file."""
    file = import_module(f"playground.dialects.{_FILE_OF[name]}")
    declared: tuple[Dialect, ...] = file.DIALECTS
    return next(dialect for dialect in declared if dialect.name == name)


@cache
def _plugins() -> Plugins:
    # searched only for names that are not our own, because the search of packages is slow
    from importlib.metadata import entry_points

    from playground.dialects.by_hand.plugins import GROUP, load_plugins

    return load_plugins(entry_points(group=GROUP), _FILE_OF)


def dialect_files() -> tuple[FileState, ...]:
    """Return the current state of the dialect files, as part of the keys of caches by name."""
    from playground.dialects.files.folders import states

    return states()


def _files() -> Plugins:
    from playground.dialects.files.folders import load_files

    return load_files(dialect_files(), (*_FILE_OF, *_plugins().dialects))


def dialect_names() -> list[str]:
    """Return the names of all registered dialects.

    The project's own come first, then other packages', then those of files (in the workspace, and
    in the folder that $PLAYGROUND_DIALECTS names).
    """
    return [*_FILE_OF, *_plugins().dialects, *_files().dialects]


def is_ours(name: str) -> bool:
    """Return True if a name is that of one of the project's own dialects."""
    return name in _FILE_OF


def dialect_findings() -> list[Finding]:
    """Return findings on dialects of packages and files that were left out or renamed."""
    return [*_plugins().findings(), *_files().findings()]


def get_dialect(name: str | Dialect) -> Dialect:
    """Return a dialect by name; a dialect that is passed in is checked and returned.

    Raises UnknownNameError for an unknown name, with similar names. Raises InputFault for what
    cannot be used: a dialect that was left out, a file's name, a class instead of an instance, a
    method with an argument that no caller passes, or a value of another type.
    """
    if not isinstance(name, str):
        if not isinstance(name, Dialect) and not isinstance(name, type):
            raise wrong("a dialect", name, "its name")
        if type(name) is DeclaredDialect:
            return name  # it overrides no method, so there is nothing to check
        from playground.dialects.by_hand.plugins import form_fault

        if fault := form_fault(name):
            raise InputFault(f"not a dialect: {fault}")
        return name
    if name in _FILE_OF:
        return _load_own(name)
    for loaded in (_plugins(), _files()):
        if name in loaded.dialects:
            return loaded.dialects[name]
    for loaded in (_plugins(), _files()):
        if name in loaded.faults:
            raise InputFault(loaded.faults[name])
    raise _unknown(name)


def _unknown(name: str) -> PlaygroundError:
    if name.endswith((".json", ".toml")):
        expected = "its dialect's name, and its folder in the variable PLAYGROUND_DIALECTS"
        return InputFault(f"{name!r} is a file, not a dialect's name", expected=expected)
    return UnknownNameError("dialect", name, dialect_names())


def as_dialects(dialects: str | Dialect | Iterable[str | Dialect]) -> list[Dialect]:
    """Return dialects from names, dialects, or a single one; all registered for "" and ().

    Raises InputFault for an empty list, which a filter of names may have left.
    """
    if isinstance(dialects, str | Dialect):
        return [get_dialect(dialects)] if dialects else as_dialects(dialect_names())
    if isinstance(dialects, bytes | Mapping) or not isinstance(dialects, Iterable):
        raise wrong("dialects", dialects, "names of dialects, or dialects")
    chosen = [get_dialect(dialect) for dialect in dialects]
    if not chosen and dialects != ():
        raise InputFault(
            "no dialect is in the list", where="dialects", expected='names, or "" for all'
        )
    return chosen or as_dialects("")


__all__ = [
    "REGISTRY",
    "DeclaredDialect",
    "Dialect",
    "as_dialects",
    "dialect_files",
    "dialect_findings",
    "dialect_names",
    "get_dialect",
]
