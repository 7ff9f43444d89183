"""The recipes of docs/contributing: read a recipe, give it another name, write its files.

A step adds a new file, lines at the end of a table, or an import. A recipe has a block of code for
each step, below a line with the step's path and place. The name of its example has two words, so
that it shows each form of a name: use-tool, use_tool, USE_TOOL, UseTool and Use tool.
"""

from __future__ import annotations

import re
import textwrap
from bisect import bisect
from pathlib import Path
from typing import Final, NamedTuple

from playground.base.errors import InputFault
from playground.base.output import Batch

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_EXAMPLE: Final = re.compile(r"^playground new \w+ (?P<name>[\w-]+)$", re.M)
_STEP: Final = re.compile(
    r"^`(?P<path>[\w./-]+)`(?:, (?P<place>at the end of `\w+`|among its imports|at its end))?:\n\n"
    r"```\w+\n(?P<code>.*?)^```",
    re.M | re.S,
)
_TESTS: Final = re.compile(r"^(?:python docs/generate\.py|pytest tests/.*)$", re.M)
_PROJECT: Final = 'name = "dialect-playground"'
_IMPORT: Final = "from playground."


class Step(NamedTuple):
    """A step of a recipe: the path of a file in the checkout, and the code for it.

    `place` says where the code belongs in an existing file; it is "" for a new file.
    """

    path: str
    place: str
    code: str


class Recipe(NamedTuple):
    """A recipe: the name of its example, its steps, and the commands that check the result."""

    name: str
    steps: tuple[Step, ...]
    tests: tuple[str, ...]

    def renamed(self, name: str) -> Recipe:
        """Return the recipe with another name for its example. Raises InputFault."""
        if not _NAME.fullmatch(name):
            raise InputFault(
                f"{name!r} cannot be the name of a contribution",
                expected="small letters, digits and hyphens, such as use-tool",
            )
        steps = (Step(*(_rename(text, self.name, name) for text in step)) for step in self.steps)
        tests = (_rename(line, self.name, name) for line in self.tests)
        return Recipe(name, tuple(steps), tuple(tests))


def checkout_around(folder: Path) -> Path:
    """Return the checkout of the project that holds a folder. Raises InputFault outside of one."""
    for parent in (folder, *folder.parents):
        project, pages = parent / "pyproject.toml", parent / "docs" / "contributing"
        if pages.is_dir() and project.is_file() and _PROJECT in project.read_text("utf-8"):
            return parent
    raise InputFault(
        "not inside a checkout of the project",
        where=str(folder),
        expected="a folder of its Git repository, which has docs/contributing and the tests",
    )


def read_recipe(checkout: Path, kind: str) -> Recipe:
    """Read the recipe of docs/contributing for a kind of contribution. Raises InputFault."""
    path = checkout / "docs" / "contributing" / f"{kind}.md"
    text = path.read_text(encoding="utf-8")
    example = _EXAMPLE.search(text)
    steps = tuple(
        Step(match["path"], match["place"] or "", match["code"]) for match in _STEP.finditer(text)
    )
    if example is None or not steps:
        raise InputFault(
            "the page is not a recipe",
            where=str(path),
            expected="a line `playground new …`, and code below each file's path",
        )
    return Recipe(example["name"], steps, tuple(_TESTS.findall(text)))


def write_steps(checkout: Path, recipe: Recipe) -> None:
    """Write all files of a recipe, or none. Raises InputFault for a file or a name that exists."""
    texts: dict[Path, str] = {}
    for step in recipe.steps:
        path = checkout / step.path
        if step.place:
            text = texts.get(path) or path.read_text(encoding="utf-8")
            texts[path] = _with_lines(text, step, recipe.name)
        elif path.exists():
            expected = "another name: a contribution overwrites nothing"
            raise InputFault("this file exists already", where=step.path, expected=expected)
        else:
            texts[path] = step.code
    with Batch(force=True) as batch:
        for path, text in texts.items():
            with batch.file(path) as file:
                file.write(text)


def _with_lines(text: str, step: Step, name: str) -> str:
    """Return the text of a file with the code of a step at its place. Raises InputFault."""
    if step.place == "among its imports":
        lines = text.splitlines(keepends=True)
        imports = [at for at, line in enumerate(lines) if line.startswith(_IMPORT)]
        after = bisect([lines[at] for at in imports], step.code)
        lines.insert(imports[after - 1] + 1 if after else imports[0], step.code)
        return "".join(lines)
    if step.place == "at its end":
        table, begin, end = "", 0, text.rindex("}")  # the file is one object of JSON
    else:
        table = step.place.split("`")[1]
        opener = re.search(rf"^{table}\b.*$", text, re.M)
        closer = opener and re.compile(r"^[)\]}]", re.M).search(text, opener.end())
        if opener is None or closer is None:
            raise InputFault(f"{table} is not there", where=step.path, expected="a table of lines")
        begin, end = opener.end(), closer.start()
    if re.search(
        rf"(?<![\w-])({re.escape(name)}|{name.replace('-', '_')})(?![\w-])", text[begin:end]
    ):
        expected = "another name, or a table without this one"
        raise InputFault(f"{name!r} is registered already", where=step.path, expected=expected)
    if not table:
        return f"{text[:end].rstrip()},\n{step.code}{text[end:]}"
    row = textwrap.indent(step.code.rstrip().removesuffix(",") + ",\n", "    ")
    return text[:end] + row + text[end:]


def _rename(text: str, old: str, new: str) -> str:
    """Return a text with another name in each form of the old one."""
    names = {form(old): form(new) for form in _FORMS}
    return re.sub("|".join(map(re.escape, names)), lambda match: names[match[0]], text)


def _joined(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


_FORMS: Final = (
    str,
    lambda name: name.replace("-", "_"),
    lambda name: name.replace("-", "_").upper(),
    _joined,
    lambda name: name.replace("-", " ").capitalize(),
)
