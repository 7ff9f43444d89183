"""The architecture as a test: imports point one way, names shadow nothing, pieces stay small."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from conftest import ROOT

import playground
from playground.base import paths
from playground.dialects import dialect_names

PACKAGE = ROOT / "playground"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Each room may import itself and the rooms before it.
ROOMS = [
    {"base"},
    {"nouns"},
    {"parsing"},
    {"servers", "recordings"},
    {"dialects"},
    {"lab", "llm", "sessions", "tokens"},
    {"cache"},
    {"questions"},
    {"show", "testing"},
    {"app", "cli"},
    {"plugins"},
    {"__init__", "__main__"},
    {
        *{"agents", "conversations", "corpora", "signatures", "templates"},
        *{"errors", "events", "messages", "raw_prompts", "tool_formats", "tools"},
    },
]
RANK = {name: rank for rank, rooms in enumerate(ROOMS) for name in rooms}
# The doors that scripts import, old paths: nothing of ours goes through them.
DOORS = ROOMS[-1]
DOORS_IN_ROOMS = (
    "playground.lab.audit",
    "playground.lab.derivation",
    "playground.lab.guides",
    "playground.lab.laws",
    "playground.lab.savings",
    "playground.llm.demo_server",
    "playground.questions.trials",
)
RANK_FREE = {"__init__", "__main__"}
HEAVY = {
    "streamlit": {"app", "plugins"},
    "litellm": {"llm"},
    "pandas": {"show", "app", "plugins"},
    "plotly": {"show", "app", "plugins"},
    "pytest": {"testing"},
    "duckdb": {"plugins"},
    "pyarrow": {"plugins"},
    "rensa": {"plugins"},
    "ray": {"plugins"},
}


def room(path: Path) -> str:
    """The folder or file at the top."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Imported modules of a file, and whether the import waits inside a function or a type."""
    found = []
    for node, lazy in statements(parsed(path)):
        if isinstance(node, ast.Import):
            found += [(alias.name, lazy) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [(f"{node.module}.{alias.name}", lazy) for alias in node.names]
    return found


def statements(node: ast.AST, lazy: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every statement inside a node, and whether it waits inside a function or a type."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.stmt | ast.ExceptHandler | ast.match_case):
            waits = isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            typing = isinstance(inner, ast.If) and "TYPE_CHECKING" in ast.dump(inner.test)
            yield inner, lazy or waits or typing
            yield from statements(inner, lazy or waits or typing)


def test_imports_point_one_way() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in MODULES
        if room(path) not in RANK_FREE
        for name in wrong_way(room(path), [name for name, _ in imports(path)])
    ]
    assert wrong == []


def wrong_way(own: str, imported: list[str]) -> list[str]:
    """What a room may not import: rooms that are not below it, and the public face above all."""
    return [
        name
        for name in imported
        if name == "playground" or name.startswith("playground.")
        if not is_below(own, name.partition(".")[2].partition(".")[0])
    ]


def is_below(own: str, other: str) -> bool:
    return other == own or RANK.get(other, RANK["__init__"]) < RANK[own]


def test_the_core_imports_no_plugin() -> None:
    """It asks the registry, which knows them by their entry points."""
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in MODULES
        if room(path) != "plugins"
        for name, _ in imports(path)
        if name.startswith("playground.plugins")
    ]
    assert wrong == []
    stubs = {path.stem: path.read_text() for path in PACKAGE.rglob("*.pyi")}
    in_rooms = {"audit", "demo_server", "derivation", "guides", "laws", "savings", "trials"}
    assert stubs.keys() == {
        "__init__",
        "agents",
        "conversations",
        "corpora",
        "signatures",
        "templates",
        *in_rooms,
    }


def test_a_plugin_imports_no_other() -> None:
    for path in (PACKAGE / "plugins").rglob("*.py"):
        own = path.relative_to(PACKAGE / "plugins").parts[0]
        for name, _ in imports(path):
            if name.startswith("playground.plugins."):
                assert name.split(".")[2] == own, f"{path} imports {name}"


def test_every_way_to_look_up_is_seen() -> None:
    """Names of the public face are loaded from the rooms: none of these goes through it."""
    upwards = ["playground", "playground.parse", "playground.show.frames", "playground.__init__"]
    assert wrong_way("questions", [*upwards, "playground.parsing.choice_point", "json"]) == upwards


def test_nothing_goes_through_a_door() -> None:
    """But for the names of plugins that the public face has, for type checkers alone."""
    for path in [*MODULES, *(ROOT / "pages").glob("*.py")]:
        for name, _ in imports(path):
            if name.startswith("playground.") and path != PACKAGE / "__init__.py":
                assert name.split(".")[1] not in DOORS, f"{path} imports {name}"
                assert not name.startswith(DOORS_IN_ROOMS), f"{path} imports {name}"


def test_an_imitated_system_knows_no_other() -> None:
    """What they share lies beside them in `systems`; AIChatFlow is written in Go's templates."""
    systems = PACKAGE / "plugins" / "systems"
    known = {folder.name for folder in systems.iterdir() if (folder / "__init__.py").exists()}
    known -= {"commands", "pages"}
    for path in systems.rglob("*.py"):
        own = path.relative_to(systems).parts[0]
        if own not in known:
            continue
        for name, _ in imports(path):
            other = name.removeprefix("playground.plugins.systems.").partition(".")[0]
            if name.startswith("playground.plugins.systems.") and other in known - {own}:
                assert (own, other) == ("aichatflow", "go_templates"), f"{path} imports {name}"


def test_heavy_packages_stay_in_their_rooms() -> None:
    for path, (name, lazy) in [(module, one) for module in MODULES for one in imports(module)]:
        top = name.split(".")[0]
        if top not in HEAVY:
            continue
        typing_only = lazy and room(path) in ("base", "cache", "questions")
        assert room(path) in HEAVY[top] or typing_only, f"{path} imports {name}"
        if top == "litellm":
            assert lazy, f"{path} imports litellm when it is imported itself"


def test_no_public_name_is_hidden_by_a_module() -> None:
    """Importing playground.compare would put a module where the function pg.compare was."""
    assert not set(playground.__all__) & {room(path) for path in MODULES}
    for name in playground.__all__:
        assert name.isupper() or callable(getattr(playground, name))


def test_every_module_has_a_room() -> None:
    assert {room(path) for path in MODULES} == set(RANK)


def test_no_module_is_named_like_a_top_level_one() -> None:
    """`streamlit run playground/app/main.py` puts that folder first on the path."""
    app = PACKAGE / "app"
    names = {path.stem for path in app.glob("*.py")} - {"__init__"}
    names |= {path.name for path in app.iterdir() if (path / "__init__.py").exists()}
    assert paths.app_file().parent == app
    assert names.isdisjoint(sys.stdlib_module_names)
    assert names.isdisjoint(packages_distributions())


# Classes of one name, each with the reason for which it has the other's.
TWO_OF_A_NAME = {
    "AnthropicMessages": "an API: the frames of its streams, and the requests to it",
    "OpenAIChat": "an API: the frames of its streams, and the requests to it",
}


def test_a_public_class_has_a_name_of_its_own() -> None:
    """Those in `systems` are named as the systems name them."""
    found = Counter(
        node.name
        for path in MODULES
        if "systems" not in path.relative_to(PACKAGE).parts
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in found.items() if count > 1} == set(TWO_OF_A_NAME)


# Names of dialects that are also those of a wire format, a provider and an agent.
AMBIGUOUS = {"json", "mistral", "openhands"}
ALL_NAMES = set(dialect_names())
NAMES = ALL_NAMES - AMBIGUOUS
AFFIXES = {"startswith", "endswith", "removeprefix", "removesuffix"}


def listed(node: ast.AST | None) -> set[object]:
    """The constants of a collection's literal: its elements, or a dictionary's keys."""
    if isinstance(node, ast.Call) and node.args:  # frozenset({...})
        node = node.args[0]
    if isinstance(node, ast.Dict):
        elements = [key for key in node.keys if key]
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        elements = node.elts
    else:
        return set()
    return {element.value for element in elements if isinstance(element, ast.Constant)}


def names_meant(node: ast.AST) -> set[str]:
    """The names that count in a comparison: all of them, where it speaks of a dialect."""
    return ALL_NAMES if "dialect" in ast.unparse(node) else NAMES


def asks_by_name(node: ast.AST, collections: set[str]) -> bool:
    """Whether a piece of code decides something by the name of a dialect.

    `collections` are the names of those tuples, sets and tables of the file that hold such names.
    """
    match node:
        case ast.Compare(left=left, comparators=comparators):
            sides, names = [left, *comparators], names_meant(node)
            constants = {side.value for side in sides if isinstance(side, ast.Constant)}
            inside = [side for side in comparators if listed(side) & names]
            known = [side for side in comparators if ast.unparse(side) in collections]
            return bool(constants & names or inside or known)
        case ast.Call(func=ast.Attribute(value=value, attr=attribute), args=[argument, *_]):
            parts = listed(argument) or {getattr(argument, "value", None)}
            affixes = {part for part in parts if isinstance(part, str) and part}
            of_dialect = "dialect" in ast.unparse(value)
            return (
                attribute in AFFIXES
                and of_dialect
                and any(n.startswith(part) or n.endswith(part) for n in NAMES for part in affixes)
            )
        case ast.Match(subject=subject, cases=cases):
            patterns = [inner for each in cases for inner in ast.walk(each.pattern)]
            values = {inner.value for inner in patterns if isinstance(inner, ast.Constant)}
            return bool(values & names_meant(subject))
        case ast.Dict():
            return bool(listed(node) & NAMES)
    return False


def asked_by_name(tree: ast.Module) -> list[str]:
    collections: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and listed(node.value) & NAMES:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            collections |= {ast.unparse(target) for target in targets}
    return [ast.unparse(node) for node in ast.walk(tree) if asks_by_name(node, collections)]


def test_no_dialect_is_asked_for_by_name() -> None:
    """Where code asks for a name, or holds a table of names, a field of the dialect is missing."""
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        assert asked_by_name(parsed(path)) == [], path


@pytest.mark.parametrize(
    "code",
    [
        "dialect.name == 'hermes'",
        "dialect.name in ('hermes', 'xml')",
        "dialect.name == 'json'",
        "match recording.dialect:\n    case 'mistral':\n        pass",
        "own = {'hermes'}\ndialect.name not in own",
        "own: Final = frozenset({'hermes'})\ndialect.name in own",
        "dialect.name.startswith('llama4')",
        "self.dialect.name.endswith(('-pythonic', '-x'))",
        "match dialect.name:\n    case 'hermes' | 'xml':\n        pass",
        "formats = {'llama3-json': 'json'}",
    ],
)
def test_asking_by_name_is_seen_in_every_form(code: str) -> None:
    assert asked_by_name(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "get_dialect('native')",
        "chosen = ('xml', 'hermes')",
        "text.startswith('json')",
        "untyped == 'json'",
        "{'openhands': 1}",
    ],
)
def test_choosing_a_dialect_is_not_asking_for_its_name(code: str) -> None:
    assert asked_by_name(ast.parse(code)) == []


def test_every_declaration_is_typed() -> None:
    """A wrong keyword in a dialect's file is seen by mypy: nothing passes through `**more`."""
    for path in (PACKAGE / "dialects").glob("*.py"):
        text = path.read_text()
        assert "type: ignore" not in text, path
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef) and (any_keyword := node.args.kwarg):
                typed = ast.unparse(any_keyword.annotation or any_keyword)
                assert typed == "_Parameters.kwargs", f"{path}: {node.name} takes any keyword"


def test_modules_and_functions_stay_small() -> None:
    for path in [*MODULES, *(ROOT / "pages").glob("*.py")]:
        text = path.read_text()
        assert text.count("\n") <= 600, f"{path} is too long"
        tree = parsed(path)
        assert ast.get_docstring(tree) or not text.strip(), f"{path} has no docstring"
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or 0) - node.lineno + 1
                assert size <= 60, f"{path}: {node.name} has {size} lines"


def test_a_page_is_thin() -> None:
    for path in (ROOT / "pages").glob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= 75
        assert "session_state" not in text
        assert "query_params" not in text


def test_only_state_touches_the_session_state_and_the_url() -> None:
    for path in [*MODULES, *(ROOT / "pages").glob("*.py")]:
        text = path.read_text()
        if path.name == "state.py":
            continue
        assert "st.session_state" not in text, path
        if path != paths.app_file():  # it hands the parameters on to the first page
            assert "st.query_params" not in text, path


def test_no_page_loads_streamlits_highlighter() -> None:
    """Its 1.5 MB of script held every page with a block of code up, for 0.2 to 1.5 s."""
    for path in [*(PACKAGE / "app").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        assert not re.search(r"\b(st\.(code|json|echo)|\w+\.code)\(", path.read_text()), path


def test_session_text_never_becomes_markup() -> None:
    for path in [*MODULES, *(ROOT / "pages").glob("*.py")]:
        assert "unsafe_allow_html" not in path.read_text(), path
    for path in (PACKAGE / "show" / "components").glob("*.js"):
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in path.read_text(), path


def test_public_types_say_what_they_take() -> None:
    """pydantic's `defer_build` would make a start faster, and every signature `(**data)`."""
    kinds = {
        playground.ToolMetadata: "input_schema",
        playground.PromptData: "messages",
        playground.Message: "parts",
        playground.Session: "messages",
    }
    for kind, name in kinds.items():
        assert name in inspect.signature(kind).parameters


def test_no_page_can_import_a_package_that_another_thread_is_importing() -> None:
    """Then one of them saw a module that was not complete, as `/cache` did once."""
    main = (PACKAGE / "app" / "main.py").read_text()
    first, rest, page, run = map(
        main.index,
        (
            "warming.import_parts(PAGES[0])",
            "from playground.app import navigation",
            "warming.import_parts(entry)",
            "page.run()",
        ),
    )
    assert first < rest < page < run
    packages = [path for path in MODULES if path.name == "__init__.py"]
    names = {".".join(path.relative_to(ROOT).parts[:-1]): path for path in packages}
    left_out = (
        "playground",
        "playground.cli",
        "playground.plugins.own_dialects.response_templates",
    )
    fill_themselves = [
        name
        for name, path in names.items()
        if name not in left_out  # no page imports them
        and any(module.startswith(f"{name}.") for module, _ in imports(path))
    ]
    program = (
        "import sys; from playground.app.serving.warming import PAGES, import_parts;"
        "[import_parts(entry) for entry in PAGES];"
        f"print([name for name in {fill_themselves} if name not in sys.modules])"
    )
    assert len(fill_themselves) > 10
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
