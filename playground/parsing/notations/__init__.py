"""The notations for bodies of calls and values of parameters: one file for each.

A new notation needs a file here and a line in a dictionary below: `playground new notation NAME`.
"""

from __future__ import annotations

from typing import Final

from playground.parsing.declaration import Declaration
from playground.parsing.notations.json_arguments import JsonArguments
from playground.parsing.notations.json_call import JsonCall
from playground.parsing.notations.marked import MarkedArguments
from playground.parsing.notations.notation import Notation
from playground.parsing.notations.params import Params
from playground.parsing.notations.python import PythonArguments
from playground.parsing.notations.texts import Texts
from playground.parsing.notations.values import VALUES
from playground.parsing.template import declared_hole

__all__ = ["NOTATIONS", "VALUES", "notation_of"]

NOTATIONS: Final[dict[str, Notation]] = {
    "call:json": JsonCall(),
    "args:json": JsonArguments(),
    "args:marked": MarkedArguments(),
    "args:python": PythonArguments(),
    "params": Params(),
    "text:KEY": Texts(),
}


def notation_of(syntax: Declaration) -> Notation:
    return NOTATIONS[declared_hole(syntax.call_template.body, NOTATIONS)]
