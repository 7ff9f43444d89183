"""Arguments that fit a tool's schema at a glance: its validator has nothing against them either."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.base.json_numbers import NotANumber
from playground.nouns.tool_formats.misfits import check_of, misfit
from playground.nouns.tools import ToolMetadata

PROPERTIES = st.sampled_from(
    [
        *({"type": kind} for kind in ("string", "integer", "number", "boolean", "array")),
        *({"type": kind, "description": "of it"} for kind in ("object", "null", "string")),
        *({"type": "string", "enum": ["tide"]}, {"type": ["string", "null"]}, {}, {"minimum": 1}),
        *({"type": "integer", "default": "none"}, {"type": "array", "items": {"type": "string"}}),
        *(
            {"type": "number", "$schema": "http://json-schema.org/draft-03/schema#"},
            {"const": True},
        ),
    ]
)
SCHEMAS = st.fixed_dictionaries(
    {"properties": st.dictionaries(st.sampled_from("abc"), PROPERTIES)},
    optional={
        "type": st.sampled_from(["object", "array"]),
        "required": st.lists(st.sampled_from("abcd"), unique=True),
        "additionalProperties": st.sampled_from([False, True, {"type": "string"}]),
        "$schema": st.just("http://json-schema.org/draft-04/schema#"),
        "minProperties": st.just(2),
        "dependentRequired": st.just({"a": ["d"]}),
    },
)
ARGUMENTS = st.dictionaries(
    st.sampled_from("abcd"),
    st.sampled_from(["tide", "", 1, 0, 1.0, 1.5, float("nan"), True, None, [], [1], {}, {"a": 1}])
    | st.just(NotANumber("1e400")),
)


@given(SCHEMAS, ARGUMENTS)
def test_what_fits_at_a_glance_fits_by_the_validator(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    check = check_of(ToolMetadata(name="f", args_schema=schema))
    assert check is not None
    found = next(check.validator.iter_errors(arguments), None)
    assert misfit(check, arguments) == ("" if found is None else found.message[:200])


def test_plain_arguments_fit_at_a_glance() -> None:
    properties = {"path": {"type": "string"}, "count": {"type": "integer", "description": "of it"}}
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    check = check_of(ToolMetadata(name="f", args_schema=schema))
    assert check is not None
    assert check.surely_takes({"path": "a", "count": 2})
    assert not check.surely_takes({"count": 2})
    assert not check.surely_takes({"path": "a", "count": True})
    assert not check.surely_takes({"path": "a", "more": 2})
