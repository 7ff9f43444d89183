"""What every pattern of `re` must keep to, so that it finds the same in every Python from 3.11.0.

Before 3.11.5 a group that was repeated possessively matched too much or too little, where it had
something to give back (CPython issue 106052): an atomic group around the repetition does not.
"""

from __future__ import annotations

import json
import subprocess
import sys

from playground.parsing.relaxed_json import load

COLLECT = """
import importlib, json, pkgutil, re, sys
from re import _constants as op, _parser

seen, compile = {}, re._compile
def compiled(pattern, flags):
    found = compile(pattern, flags)
    if "playground" in sys._getframe(2).f_code.co_filename and isinstance(pattern, str):
        seen[found.pattern, found.flags] = sys._getframe(2).f_code.co_filename
    return found
re._compile = compiled

import playground as pg
from playground.recordings.scrubbing import scrubbed

for module in pkgutil.walk_packages(pg.__path__, "playground."):
    if not module.name.startswith(("playground.app", "playground.show")):
        importlib.import_module(module.name)
scrubbed("")
for name in pg.dialect_names():
    pg.parse("<tool_call>a</tool_call>", name, [])

def groups(tree):
    for code, found in tree:
        if code is op.POSSESSIVE_REPEAT:
            yield found[2]
        for inner in found if isinstance(found, tuple | list) else [found]:
            for each in inner if isinstance(inner, list) else [inner]:
                if isinstance(each, _parser.SubPattern):
                    yield from groups(each)

ONE = {op.IN, op.LITERAL, op.NOT_LITERAL, op.ANY}
print(json.dumps([len(seen), [(file, pattern) for (pattern, flags), file in seen.items()
    if any(len(g) > 1 or g[0][0] not in ONE for g in groups(_parser.parse(pattern, flags)))]]))
"""


def test_no_pattern_of_re_repeats_a_group_possessively() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COLLECT], capture_output=True, text=True, check=True
    )
    count, wrong = json.loads(done.stdout)
    assert count > 300
    assert wrong == []


def test_a_comment_in_json_is_passed_over_by_every_python() -> None:
    """Python 3.11.2 found the end of none."""
    assert load('{ /* a ** b */ "a": [/**/ 1], "b": /* c */ 2}') == {"a": [1], "b": 2}
