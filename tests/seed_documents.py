"""The five documents that this project imitates: their examples, taken out of their text to be run.

The documents lie beside a checkout (`../shared/seeds`), never in it. Two of them lost the
indentation of their code, and one was wrapped by a mail program.
"""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from typing import Final

import pytest
from conftest import ROOT

FOLDER: Final = ROOT.parent / "shared" / "seeds"
needs_seeds = pytest.mark.skipif(
    not FOLDER.exists(), reason="NOT RUN: ../shared/seeds is not beside this checkout"
)

# The depth of each statement, from `def` on. Without indentation only the words tell where a block
# ends.
DEPTHS: Final = {
    "format_tool_schema": "011123323321",
    "inject_prompt_cache": "01 1111 2222 2 33 2 3 444444444 555 222 2 "
    "111 222 3 3 4 5 6 3 4 222 33 22 33 2 222 2 33 2 3 444444444 555 222 2 1",
    "format_messages": "0 1111111 222 3333 44 3 4 3 4 5 3 4 11 22 3 4 2 3 4 3 4 1",
    "format_system_prompt": "01 1 12 12 1111 1212 1212 1212 1212 1",
    "format_user_prompt": "0121",
    "format_user_agent_prompt": "0121",
    "format_tool_docs": "01 11 1 22 33 2 2 33 22 1",
}


def text_of(number: int) -> str:
    """Return a document by its number, 0 to 4."""
    (file,) = FOLDER.glob(f"{number:03}_*.txt")
    return file.read_text("utf-8")


def statements(code: str) -> Iterator[str]:
    """Yield the logical lines of Python without indentation; lines of comment are left out."""
    lines: list[str] = []
    for line in code.splitlines():
        if not lines and (not line.strip() or line.startswith("#")):
            continue
        lines.append(line)
        if is_complete("\n".join(lines)):
            yield "\n".join(lines)
            lines = []
    assert not lines, lines


def is_complete(text: str) -> bool:
    """Return True if no bracket and no long text is open at the end."""
    try:
        list(tokenize.generate_tokens(io.StringIO(text + "\n").readline))
    except tokenize.TokenError:
        return False
    except IndentationError:
        return True
    return True


def indented(code: str, name: str = "") -> str:
    """Return a function with the depths of its statements put back; by default one block."""
    found = [*statements(code)]
    depths = DEPTHS.get(name, "").replace(" ", "") or "".join(map(_depth, found))
    pairs = zip(depths, found, strict=True)
    return "\n".join(" " * 4 * int(depth) + statement for depth, statement in pairs) + "\n"


def _depth(statement: str) -> str:
    return "0" if statement.startswith(("def ", "@")) else "1"


def methods(text: str) -> dict[str, str]:
    """Return the source of each method that a document of mkdocs shows, by its name."""
    found = {}
    for code in re.findall(r"Source code in \S+\n\| (.*?)\n\|(?=\n|$)", text, re.S):
        (name, *_) = re.findall(r"def (\w+)", code)
        found[name] = indented(code, name)
    return found


def with_line_ends(code: str) -> str:
    r"""Return code whose `\n` within short texts had become real line ends."""
    joined, open_text = [""], False
    for line in code.splitlines():
        joined[-1] += line if not open_text else f"\\n{line}"
        open_text = joined[-1].replace('"""', "").count('"') % 2 == 1
        if not open_text:
            joined.append("")
    return "\n".join(joined)


def class_in(code: str, place: str) -> str:
    """Return the class that stands without indentation in a text; its methods have one block."""
    head, body = code.split("\n", 1)
    made = [head]
    for statement in statements(with_line_ends(body)):
        depth = 1 if statement.startswith(("def ", "@")) or len(made) == 1 else 2
        made.append(" " * 4 * depth + statement)
    assert len(made) > 2, place
    return "\n".join(made) + "\n"


def fenced(text: str, language: str) -> list[str]:
    """Return the blocks of a language in a document of Markdown, with a mail's wrapping undone."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)
    return [re.sub(r"(?<=\S) \n *", " ", block) for block in found]


def yaml_examples(text: str) -> list[str]:
    """Return the lists of messages in a document: paragraphs that begin with a role."""
    paragraphs = re.findall(r"^- role: .*\n(?:(?:- | {2}).*\n)*", text, re.M)
    return [textwrap.dedent(paragraph) for paragraph in paragraphs]


def signatures(text: str) -> list[str]:
    """Return each line that declares a method: a name, its arguments and what it returns."""
    return re.findall(r"^([\w.]+\(.*\)(?: -> .*)?)$", text, re.M)


def joined(blocks: Iterable[str]) -> str:
    return "\n".join(blocks)
