"""The laws hold under every switch, and Python's notation means what Python means."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DIALECTS, TOOLS, json_values, streams
from test_laws import EXAMPLES

from playground.dialects.declared import DeclaredDialect
from playground.nouns.events import Event, TextEvent, merged
from playground.nouns.prompt_data import PromptData
from playground.parsing.python_values import read_keywords
from playground.parsing.result import gather
from playground.parsing.switches import Switches
from playground.parsing.values import same

switches = st.builds(
    Switches,
    calls_in_fences=st.sampled_from(["text", "call"]),
    calls_in_reasoning=st.sampled_from(["unclosed", "call", "reasoning"]),
    text_after_calls=st.sampled_from(["text", "finding"]),
    broken_calls=st.sampled_from(["apart", "text"]),
    misfits=st.sampled_from(["call", "text"]),
    typing=st.sampled_from(["schema", "text"]),
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_any_cutting_gives_the_same_and_nothing_is_lost_under_any_switch(
    dialect: DeclaredDialect,
) -> None:
    def read(pieces: list[bytes], chosen: Switches) -> list[Event]:
        parser = dialect.create_parser(PromptData(tool_metadata=TOOLS), "", chosen)
        return merged([*(e for piece in pieces for e in parser.feed(piece)), *parser.finish()])

    @settings(max_examples=EXAMPLES // 2)
    @given(st.data(), switches, st.integers(1, 9))
    def law(data: st.DataObject, chosen: Switches, size: int) -> None:
        text = data.draw(streams(dialect))
        stream = text.encode()
        whole = read([stream], chosen)
        assert read([stream[i : i + size] for i in range(0, len(stream), size)], chosen) == whole
        assert "".join(getattr(event, "text", "") for event in whole) == text
        content = gather(whole, chosen).content
        if chosen.broken_calls == "apart":
            assert content == "".join(e.text for e in whole if isinstance(e, TextEvent))

    law()


@settings(max_examples=EXAMPLES * 5)
@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,4}", fullmatch=True).filter(lambda k: not _reserved(k)),
        json_values(st.text(max_size=8)),
        max_size=3,
    )
)
def test_what_repr_writes_is_read_as_it_was(arguments: dict[str, object]) -> None:
    text = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    read, codes = read_keywords(text)
    assert same(read, arguments)
    assert not codes


@pytest.mark.filterwarnings("ignore:invalid escape sequence")  # Python's, in what is tried
@settings(max_examples=EXAMPLES * 12)
@given(
    st.lists(
        st.sampled_from(
            ["'", '"', "\\", "a", "(", ")", "[", "]", "{", "}", ",", ":", "1", "-", ".5", " ", "b="]
        )
        | st.sampled_from(["'x'", "True", "None", "\\n", "\\x41", "\\101", "\n", "é", "0"]),
        max_size=9,
    ).map("".join)
)
def test_where_python_reads_it_too_both_agree(value: str) -> None:
    try:
        read, codes = read_keywords(f"a={value}")
    except (ValueError, RecursionError):
        return
    if codes:
        return
    call = ast.parse(f"f(a={value}\n)", mode="eval").body
    assert isinstance(call, ast.Call)
    mine = {k: [*v] if isinstance(v, tuple) else v for k, v in read.items()}
    theirs = {str(k.arg): _listed(ast.literal_eval(k.value)) for k in call.keywords}
    assert same(mine, theirs)


def _listed(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    return {k: _listed(v) for k, v in value.items()} if isinstance(value, dict) else value


def _reserved(name: str) -> bool:
    import keyword

    return keyword.iskeyword(name)
