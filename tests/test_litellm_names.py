"""Which names of LiteLLM are used: each is there in the installed version, and no other is used."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from playground.llm.library import LiteLLM

SOURCES = sorted([*(ROOT / "playground").rglob("*.py"), *(ROOT / "pages").rglob("*.py")])
NAMES = set(LiteLLM.__annotations__)
SETTINGS = {
    "disable_aiohttp_transport",
    "disable_hf_tokenizer_download",
    "suppress_debug_info",
    "drop_params",
}
_LOOKED_UP_BY_TEXT = ("getattr", "setattr", "hasattr", "delattr", "vars", "dir")


def used_names(source: str) -> Iterator[str]:
    """Yield each name of LiteLLM that a module uses, and `!…` for what cannot be followed."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    yield from map("!{}".format, _ways_around(tree))
    variables = _variables(tree)
    for node in ast.walk(tree):
        if _is_library(node, variables):
            match parents[node]:
                case ast.Attribute(attr=name):
                    yield name
                case ast.Call(func=ast.Name(id=name)) if name in _LOOKED_UP_BY_TEXT:
                    yield f"!{name}"
                case ast.Call() | ast.Assign() | ast.Return() | ast.Expr():
                    pass  # handed on: mypy knows its type there
                case other:
                    yield f"!{ast.unparse(other)}"


def _variables(tree: ast.AST) -> set[str]:
    """Names of variables and parameters that hold the library."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
                if _is_library(value, set()) or ast.unparse(value).startswith("cast(LiteLLM"):
                    found.add(name)
            case ast.arg(arg=name, annotation=ast.Name(id="LiteLLM")):
                found.add(name)
    return found


def _is_library(node: ast.AST, variables: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="litellm")):
            return True
        case ast.Name(id=name, ctx=ast.Load()):
            return name in variables
    return False


def _ways_around(tree: ast.AST) -> Iterator[str]:
    """Imports of the package itself, in the source's words."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found = any(alias.name.split(".")[0] == "litellm" for alias in names)
            case ast.ImportFrom(module=str(module)):
                found = module.split(".")[0] == "litellm"
            case ast.Call(func=function, args=[ast.Constant(value=str(text)), *_]):
                found = text.startswith("litellm") and "import_module" in ast.unparse(function)
            case _:
                found = False
        if found:
            yield ast.unparse(node)


def test_every_name_of_litellm_that_is_used_stands_in_one_list() -> None:
    texts = {path.relative_to(ROOT): path.read_text() for path in SOURCES}
    used = {path: set(used_names(text)) for path, text in texts.items() if "itellm" in text}
    at_door = used.pop(Path("playground/llm/library.py"))
    assert at_door == {"!import litellm as imported", *SETTINGS}
    assert {name for names in used.values() for name in names} == NAMES - SETTINGS


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("litellm().completion(x=1)", {"completion"}),
        ("library = litellm()\nlibrary.drop_params = False", {"drop_params"}),
        ("def f(library: LiteLLM):\n    return library.token_counter('x')", {"token_counter"}),
        ("litellm()", set()),
        ("send(litellm())", set()),
        ("getattr(litellm(), name)", {"!getattr"}),
        ("x = [litellm()]", {"![litellm()]"}),
        ("import litellm", {"!import litellm"}),
        ("from litellm.utils import x", {"!from litellm.utils import x"}),
        ("import_module('litellm.main')", {"!import_module('litellm.main')"}),
        ("from playground.llm.library import litellm", set()),
    ],
)
def test_the_walk_sees_every_way_to_a_name(source: str, names: set[str]) -> None:
    assert set(used_names(source)) == names


def test_the_installed_litellm_has_every_name_that_is_used() -> None:
    """Looked up before we set any: what is gone would be set anew without a word."""
    program = (
        "import json, litellm, sys\n"
        "names = json.loads(sys.argv[1])\n"
        "print(json.dumps([name for name in names if not hasattr(litellm, name)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps([*sorted(NAMES), "no_such_name"])],
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == ["no_such_name"]
