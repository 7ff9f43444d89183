"""The shape of a source tree in one table: how small, how dense, how commented, how entangled.

Run: python benchmarks/house.py [DIR] [--against DIR] [--rooms] [--dense N] [--limits] [--lower]

DIR is a package's folder, or a checkout that holds `playground/`. Nothing is imported: everything
is read with `ast` and `tokenize`, so any Python package can be laid beside ours. What is counted:

lines            of all its modules, blank ones too; a package's own tests are left out
function lines   from `def` to the last line, docstring too; a nested function counts in both
branches         McCabe's complexity of every function: one for the function, and one for each `if`,
                 loop, `except`, `case`, conditional expression, comprehension and its filters, and
                 each further operand of `and` and `or`; per hundred lines of functions
comments         lines with a comment that `tokenize` sees, per hundred code lines; a docstring
                 counts as code here. `and docstrings` adds docstring lines to the comments, and
                 then takes them from the code
private, public  functions and methods by a leading underscore; `__dunder__` methods are neither
rooms            files and folders at the top of the package (its own `__init__` is one), modules
                 that only import (old paths), and in a checkout `pages` and `benchmarks`
arrows           pairs of rooms of which one imports the other, lazily or not
floors           the longest chain of rooms of which each imports the next; a circle is one floor
circles          groups of rooms, and of modules, that reach each other again by imports
core             the package without `plugins/`, where each plugin has its commands, pages, drawings

`house.toml` beside this file says how much each figure may be at most; a test measures them.
`--limits` prints both. A limit goes down (`--lower` writes what is measured now, where that is
less); it goes up by hand, with a sentence of reason: `why` beside the raised number.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

LIMITS = Path(__file__).with_name("house.toml")
BESIDE = ("pages", "benchmarks")
PLUGINS = "plugins"
DECISIONS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case, ast.IfExp)
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DENSE_LINES = 6
THOUSANDS = 10_000  # from here on a limit is a whole thousand
Function = ast.FunctionDef | ast.AsyncFunctionDef
Arrows = Mapping[str, set[str]]


@dataclass(frozen=True)
class Module:
    """One parsed file. `name` is dotted and begins with the package's own name."""

    name: str
    text: str
    is_package: bool
    types: str = ""  # of its stub, which counts among the lines

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        top, *inner = self.name.split(".")
        if top in BESIDE:
            return top
        if self.is_door:
            return ".".join(inner)
        return inner[0] if inner else "__init__"

    @property
    def is_door(self) -> bool:
        """True if the module only imports: it is an old path, and does not count as one of its
        folder."""
        body = self.tree.body[1:] if ast.get_docstring(self.tree) else self.tree.body
        imports = (isinstance(node, ast.Import | ast.ImportFrom) for node in body)
        return not self.is_package and bool(body) and all(imports)

    @cached_property
    def imports(self) -> list[str]:
        """All that the module imports anywhere in its text, by full names."""
        found: list[str] = []
        for node in statements(self.tree):
            if isinstance(node, ast.Import):
                found += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                found += from_names(self, node)
        return found

    @property
    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    @cached_property
    def line_kinds(self) -> tuple[int, int]:
        """The number of lines with a comment, and of lines with code or a docstring."""
        comments: set[int] = set()
        code: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            lines = range(token.start[0], token.end[0] + 1)
            if token.type == tokenize.COMMENT:
                comments.update(lines)
            elif token.type not in LAYOUT:
                code.update(lines)
        return len(comments), len(code)

    @property
    def docstring_lines(self) -> int:
        total = 0
        for node in ast.walk(self.tree):
            if not isinstance(node, Function | ast.ClassDef | ast.Module):
                continue
            if ast.get_docstring(node, clean=False) is not None:
                first = node.body[0]
                total += (first.end_lineno or first.lineno) - first.lineno + 1
        return total


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield each statement of a module, of however deep a block, but no expression."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, block, ())


def modules_of(folder: Path) -> tuple[list[Module], list[Module]]:
    """Return the package's modules, and those beside it in its checkout that import it."""
    checkout = (folder / "playground").is_dir()
    package = folder / "playground" if checkout else folder
    beside = [m for name in BESIDE if checkout for m in read_modules(folder / name)]
    return list(read_modules(package)), beside


def read_modules(folder: Path) -> Iterator[Module]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        if "tests" not in parts:
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            stub = path.with_suffix(".pyi")
            types = stub.read_text(encoding="utf-8") if stub.exists() else ""
            yield Module(name, path.read_text(encoding="utf-8"), is_package, types)


def complexity(function: Function) -> int:
    total = 1
    for node in ast.walk(function):
        if isinstance(node, DECISIONS):
            total += 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
    return total


def imported(module: Module, known: set[str]) -> set[str]:
    """Return the modules of the same package that a module imports anywhere in its text."""
    found = {target for name in module.imports if (target := longest_known(name, known))}
    return found - {module.name}


def from_names(module: Module, node: ast.ImportFrom) -> Iterator[str]:
    base = (node.module or "").split(".") if node.module else []
    if node.level:
        own = module.name.split(".")
        keep = len(own) - node.level + (1 if module.is_package else 0)
        base = own[:keep] + base
    return (".".join([*base, alias.name]) for alias in node.names)


def longest_known(name: str, known: set[str]) -> str:
    """Return the longest beginning of a dotted name that is a module: `from a.b import c` means
    a.b.c if there is such a module, else a.b."""
    parts = name.split(".")
    while parts and ".".join(parts) not in known:
        parts.pop()
    return ".".join(parts)


def module_arrows(modules: Iterable[Module]) -> dict[str, set[str]]:
    listed = list(modules)
    known = {module.name for module in listed}
    return {module.name: imported(module, known) for module in listed}


def room_arrows(modules: Iterable[Module]) -> dict[str, set[str]]:
    listed = list(modules)
    rooms = {module.name: module.room for module in listed}
    arrows: dict[str, set[str]] = {room: set() for room in rooms.values()}
    for name, targets in module_arrows(listed).items():
        arrows[rooms[name]] |= {rooms[target] for target in targets} - {rooms[name]}
    return arrows


def reach(arrows: Arrows, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(arrows[start])
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            waiting += arrows[here]
    return seen


def circles(arrows: Arrows) -> list[set[str]]:
    reached = {name: reach(arrows, name) for name in arrows}
    found: list[set[str]] = []
    for name in arrows:
        group = {other for other in reached[name] if name in reached[other]}
        if group and group not in found:
            found.append(group)
    return found


def floors(arrows: Arrows) -> int:
    """Return the length of the longest chain of imports between rooms, every circle taken as one
    room."""
    member = {name: min(group) for group in circles(arrows) for name in group}
    below: dict[str, set[str]] = {}
    for name, targets in arrows.items():
        own = member.get(name, name)
        below.setdefault(own, set()).update({member.get(t, t) for t in targets} - {own})
    depths: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in depths:
            depths[name] = 1 + max((depth(target) for target in below[name]), default=0)
        return depths[name]

    return max(map(depth, below), default=0)


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def code_figures(modules: list[Module]) -> dict[str, str]:
    """Return the figures that can be counted for any part of a tree."""
    functions = [function for module in modules for function in module.functions]
    sizes = sorted((f.end_lineno or f.lineno) - f.lineno + 1 for f in functions) or [0]
    quantiles = (sizes[min(int(len(sizes) * at), len(sizes) - 1)] for at in (0.5, 0.9, 1))
    branches = sum(map(complexity, functions))
    dunder = sum(f.name.startswith("__") for f in functions)
    private = sum(f.name.startswith("_") for f in functions) - dunder
    comments = sum(module.line_kinds[0] for module in modules)
    code = sum(module.line_kinds[1] for module in modules)
    told = sum(module.docstring_lines for module in modules)
    return {
        "lines": f"{sum(module.text.count(chr(10)) for module in modules):,}",
        "modules": f"{len(modules)}",
        "functions": f"{len(functions):,}",
        "function lines: median / p90 / max": " / ".join(map(str, quantiles)),
        "branches per 100 function lines": f"{100 * share(branches, sum(sizes)):.1f}",
        "comments per 100 code lines": f"{100 * share(comments, code):.1f}",
        "... and docstrings": f"{100 * share(comments + told, code - told):.1f}",
        "private functions per public": f"{share(private, len(functions) - private - dunder):.2f}",
    }


def line_count(modules: Iterable[Module]) -> int:
    return sum((module.text + module.types).count("\n") for module in modules)


def core_of(package: Iterable[Module]) -> list[Module]:
    """Return the package's modules without those of plugins."""
    return [module for module in package if module.room != PLUGINS]


def limited(package: list[Module], beside: list[Module]) -> dict[str, int]:
    """Return the figures of a tree that `house.toml` limits."""
    arrows = room_arrows([*package, *beside])
    return {
        "rooms": len(arrows),
        "arrows": sum(map(len, arrows.values())),
        "floors": floors(arrows),
        "circles_of_rooms": len(circles(arrows)),
        "circles_of_modules": len(circles(module_arrows(package))),
        "lines": line_count(package),
        "core_lines": line_count(core_of(package)),
    }


def figures(package: list[Module], beside: list[Module]) -> dict[str, str]:
    """Return all figures of a whole tree."""
    counted = limited(package, beside)
    round_modules = [str(len(group)) for group in circles(module_arrows(package))]
    gerunds = [module.name for module in package if module.name.endswith("ing")]
    at_the_top = [name for name in gerunds if name.count(".") == 1]
    return code_figures(package) | {
        "lines of the core": f"{counted['core_lines']:,}",
        "rooms": str(counted["rooms"]),
        "arrows between rooms": str(counted["arrows"]),
        "floors": str(counted["floors"]),
        "circles of rooms": str(counted["circles_of_rooms"]),
        "circles of modules, their sizes": " + ".join(round_modules) or "0",
        "modules named ...ing / at the top": f"{len(gerunds)} / {len(at_the_top)}",
    }


def read_limits(text: str) -> dict[str, tuple[int, str]]:
    """Return each figure's limit, and the reason why it was last raised; "" if it never was."""
    return {name: (row["most"], row.get("why", "")) for name, row in tomllib.loads(text).items()}


def beyond(counted: Mapping[str, int], limits: Mapping[str, tuple[int, str]]) -> list[str]:
    """Return a line for each figure that is more than its limit."""
    return [
        f"{name}: {counted[name]:,}, where house.toml has at most {most:,}"
        for name, (most, _) in limits.items()
        if counted[name] > most
    ]


def raised_without_reason(before: str, after: str) -> list[str]:
    """Return the figures whose limit the second text of `house.toml` raises without a new sentence
    of reason, and those whose limit it lacks."""
    old, new = read_limits(before), read_limits(after)
    return [
        name
        for name, (most, why) in old.items()
        if name not in new or (new[name][0] > most and new[name][1] in ("", why))
    ]


def lowered(text: str, counted: Mapping[str, int]) -> str:
    """Return the text of `house.toml` with each limit lowered to the figure that was counted, if
    that is less; counts of lines are rounded up to thousands."""
    lines, name = text.splitlines(keepends=True), ""
    for at, line in enumerate(lines):
        if line.startswith("["):
            name = line.strip("[]\n")
        elif line.startswith("most = ") and name in counted:
            now = counted[name] if counted[name] < THOUSANDS else -(-counted[name] // 1000) * 1000
            most = min(int(line.removeprefix("most = ")), now)
            lines[at] = f"most = {most:_}\n"
    return "".join(lines)


def limits_table(counted: Mapping[str, int]) -> str:
    limits = read_limits(LIMITS.read_text(encoding="utf-8"))
    rows = {name: [f"{counted[name]:,}", f"{most:,}"] for name, (most, _) in limits.items()}
    return table(rows, ["now", "at most"])


def table(rows: Mapping[str, Iterable[str]], heads: Iterable[str]) -> str:
    lines = [["", *heads], *([name, *cells] for name, cells in rows.items())]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        [cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(pairs)]
        for pairs in (zip(line, widths, strict=True) for line in lines)
    )
    return "\n".join("  ".join(cells) for cells in padded)


def rooms_table(package: list[Module]) -> str:
    arrows = room_arrows(package)
    rows = {}
    for room in sorted(arrows):
        counted = code_figures([module for module in package if module.room == room])
        rows[room] = [*counted.values(), str(len(arrows[room]))]
    heads = ["lines", "modules", "functions", "med / p90 / max", "branches", "comments", "... doc"]
    return table(rows, [*heads, "private", "arrows"])


def dense_table(package: list[Module], most: int) -> str:
    """Return a table of the functions with the most branches per line; functions of a few lines are
    left out."""
    found = []
    for module in package:
        for function in module.functions:
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines >= DENSE_LINES:
                branches = complexity(function)
                where = f"{module.name}:{function.lineno} {function.name}"
                found.append((branches / lines, where, branches, lines))
    found.sort(reverse=True)
    rows = {where: [str(branches), str(lines)] for _, where, branches, lines in found[:most]}
    return table(rows, ["branches", "lines"])


def check_limits(lower: bool) -> int:
    """Print this checkout's figures beside their limits; return 1 if one is exceeded."""
    import journeys

    counted = limited(*modules_of(LIMITS.parent.parent)) | journeys.limited()
    text = LIMITS.read_text(encoding="utf-8")
    if lower:
        LIMITS.write_text(lowered(text, counted), encoding="utf-8")
    print(limits_table(counted))
    problems = beyond(counted, read_limits(text))
    print("".join(f"{line}\n" for line in problems), end="")
    return int(bool(problems))


def main() -> None:
    options = argparse.ArgumentParser(description="The shape of a source tree in one table.")
    options.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent.parent)
    options.add_argument("--against", type=Path, action="append", default=[], metavar="DIR")
    options.add_argument("--rooms", action="store_true", help="the rooms of DIR, one a line, too")
    options.add_argument("--dense", type=int, metavar="N", help="the N densest functions, too")
    options.add_argument("--limits", action="store_true", help="our figures beside house.toml's")
    options.add_argument("--lower", action="store_true", help="write lower limits, where we are")
    chosen = options.parse_args()
    if chosen.limits or chosen.lower:
        sys.exit(check_limits(chosen.lower))
    folders = [folder.resolve() for folder in (chosen.folder, *chosen.against)]
    trees = [modules_of(folder) for folder in folders]
    counted = [figures(*tree) for tree in trees]
    rows = {name: [figure[name] for figure in counted] for name in counted[0]}
    print(table(rows, [folder.name for folder in folders]))
    for folder, (package, beside) in zip(folders, trees, strict=True):
        for group in circles(room_arrows([*package, *beside])):
            print(f"{folder.name}: a circle of {', '.join(sorted(group))}")
    if chosen.rooms:
        print("\n" + rooms_table(trees[0][0]))
    if chosen.dense:
        print("\n" + dense_table(trees[0][0], chosen.dense))


if __name__ == "__main__":
    main()
