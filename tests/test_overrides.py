"""A method that a dialect overrides counts in every view that its text reaches.

Each override writes a marker, in a dialect on the base class and in one on a declaration, and the
marker is looked for in every view. An override that only a view of its own would honour (it once
was `format_messages` alone) shows another prompt than is sent.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, override, misc"

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields
from itertools import product
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic.fields import FieldInfo
from test_own_dialects import MyDialect, OnlyFeed, sample
from test_pages import page, payloads

import playground as pg
from playground import dialects
from playground.base.errors import InputFault
from playground.dialects import Dialect
from playground.dialects.by_hand.plugins import fault_of
from playground.dialects.marks.policies import CacheDecision
from playground.nouns.events import Span, TextEvent
from playground.nouns.messages import Message, TextPart
from playground.nouns.prompt_data import PromptData, TaskConfig
from playground.plugins.systems.dspy import (
    ChatAdapter,
    FieldInfoWithName,
    History,
    Image,
    JSONAdapter,
    Signature,
    XMLAdapter,
)
from playground.recordings.recording import Recording, TextChunk

MARKER = "words of the override"


def _user(*_given: Any) -> dict[str, Any]:
    return {"role": "user", "content": MARKER}


def _mark_last(_self, messages, _prompt_data) -> None:
    """Azad's own returns nothing, and writes into the messages."""
    part = {"type": "text", "text": MARKER, "cache_control": {"type": "ephemeral"}}
    messages[-1]["content"] = [part]


def _text(*_given: Any) -> str:
    return MARKER


OVERRIDES: dict[str, Callable[..., Any]] = {
    "format_messages": lambda self, prompt_data, rules_path: [_user()],
    "format_system_prompt": lambda self, data, rules_path: {"role": "system", "content": MARKER},
    "format_history": lambda self, prompt_data: [_user()],
    "format_tool_docs": _text,
    "format_tool_doc": _text,
    "format_user_prompt": _text,
    "format_user_agent_prompt": _text,
    "format_system_rules": _text,
    "format_dialect_rules": lambda self, prompt_data, rules_path: MARKER,
    "format_example": lambda self, tool_name, parameters: MARKER,
    "format_tool_call": lambda self, tool_call: MARKER,
    "format_tool_result": lambda self, tool_result: MARKER,
    "format_history_item": lambda self, item: _user(),
    "split_message": lambda self, message: [Message(message.role, (TextPart(MARKER),))],
    "inject_prompt_cache": _mark_last,
}
NOT_IN_A_REQUEST = {  # of the seed's example, whose history and tool docs write none of these
    (MyDialect, "format_example"),
    (MyDialect, "format_tool_call"),
    (MyDialect, "format_tool_result"),
}
XML: Any = pg.get_dialect("xml")
VIEWS: dict[str, Callable[[Dialect], object]] = {
    "format_messages": lambda dialect: dialect.format_messages(sample().prompt_data()),
    "render": lambda dialect: dialect.render(sample().prompt_data()).messages,
    "compare": lambda dialect: pg.compare(sample(), [dialect]).columns[0].blocks,
    "place_cache": lambda dialect: [part.text for part in pg.place_cache(sample(), dialect).parts],
    "simulate_cache": lambda dialect: _wire_texts(pg.simulate_cache(sample(), dialect=dialect)),
    "cache_on_wire": lambda dialect: [b.text for b in pg.cache_on_wire(sample(), dialect).sent],
    "provider_payload": lambda dialect: pg.provider_payload(sample(), dialect).body,
    "a request's shape": lambda dialect: pg.compare(sample(), [dialect]).html(),
}


def _overriding(base: type[Dialect], methods: dict[str, Any]) -> Dialect:
    made: Any = type("Own", (base,), methods)
    dialect: Dialect
    if base is MyDialect:
        dialect = made()
        return dialect
    declared = {each.name: getattr(XML, each.name) for each in fields(XML) if each.init}
    dialect = made(**{**declared, "name": "own"})
    return dialect


def test_every_method_that_the_base_class_offers_is_tried() -> None:
    offered = {name for name in vars(Dialect) if name.startswith(("format_", "inject_", "split_"))}
    schemas = {"format_tool_schema", "format_tools_schema"}  # asked for by a user, in no request
    assert offered - schemas == set(OVERRIDES)


@pytest.mark.parametrize("method", OVERRIDES)
@pytest.mark.parametrize("base", [MyDialect, type(XML)])
def test_an_override_is_seen_in_every_view(base: type[Dialect], method: str) -> None:
    if (base, method) in NOT_IN_A_REQUEST:
        return
    dialect = _overriding(base, {method: OVERRIDES[method]})
    unseen = [name for name, view in VIEWS.items() if MARKER not in str(view(dialect))]
    assert not unseen


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The names of the dialects that a package brings: each has a method overridden."""
    folder = tmp_path_factory.mktemp("installed")
    bases: dict[str, type[Dialect]] = {"hand": MyDialect, "declared": type(XML)}
    own: Any = ModuleType("overriding")
    for base, method in product(bases, OVERRIDES):
        if (bases[base], method) not in NOT_IN_A_REQUEST:
            name = f"{base}_{method}"
            setattr(own, name, _overriding(bases[base], {method: OVERRIDES[method]}))
    names = list(vars(own))[len(vars(ModuleType("overriding"))) :]
    info = folder / "overriding-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: overriding\nVersion: 1.0\n")
    lines = [f"{name} = overriding:{name}" for name in names]
    (info / "entry_points.txt").write_text("\n".join(["[playground.dialects]", *lines]))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setitem(sys.modules, "overriding", own)
        dialects._plugins.cache_clear()
        yield names
    dialects._plugins.cache_clear()


def test_an_override_is_seen_on_the_pages(installed: list[str]) -> None:
    """Compare shows all of them at once."""
    assert len(installed) == 2 * len(OVERRIDES) - len(NOT_IN_A_REQUEST)
    app = page("compare", session="02-parallel-calls")
    app.multiselect(key="dialects").set_value(installed).run()
    data = next(data for data in payloads(app) if "panes" in data)
    shown = {
        pane["name"]: [data["texts"][part[0]] for _, parts in pane["cells"] for part in parts]
        for pane in data["panes"]
    }
    assert [name for name in installed if not any(MARKER in text for text in shown[name])] == []
    for name in [name for name in installed if name.startswith("declared")]:
        app = page("cache", session="02-parallel-calls", dialect=name)
        assert MARKER in str(payloads(app)), name
        usual = "own" if name.endswith("inject_prompt_cache") else "azad"
        assert app.selectbox(key="policy").value == usual
    marked = [part for part in payloads(app)[0]["parts"] if part[1]]
    assert marked == [["part:5.0", True, "the dialect's own code sets a mark here"]]
    assert MARKER in payloads(app)[0]["requests"][-1]["blocks"][-1]
    app.selectbox(key="dialect").set_value("xml").run()
    assert app.selectbox(key="policy").value == "azad"
    app.selectbox(key="dialect").set_value("hand_inject_prompt_cache").run()
    assert app.selectbox(key="policy").value == "own"
    app = page("payload", session="02-parallel-calls", dialect=installed[-1])
    assert MARKER in str([each.proto.json for each in app.get("bidi_component")])


@pytest.mark.parametrize("method", ["format_tool_schema", "format_tools_schema"])
def test_a_schema_of_a_native_dialect_is_sent_as_it_overrides_it(method: str) -> None:
    native: Any = pg.get_dialect("native")

    def override(self, *given: Any, **named: Any) -> Any:
        written = getattr(type(native), method)(self, *given, **named)
        for each in written if isinstance(written, list) else [written]:
            each["function"]["description"] = MARKER
        return written

    declared = {each.name: getattr(native, each.name) for each in fields(native) if each.init}
    dialect = type("Own", (type(native),), {method: override})(**{**declared, "name": "own"})
    of_messages = {"format_messages", "render", "place_cache"}  # they hold no tools
    seen = {name for name, view in VIEWS.items() if MARKER in str(view(dialect))}
    assert seen == set(VIEWS) - of_messages


def test_an_override_of_the_parser_reads_replies_and_recordings() -> None:
    class Marking(OnlyFeed):
        def feed(self, data: bytes) -> list[Any]:
            self.offset += len(data.decode())
            return [TextEvent(Span(self.offset - len(data.decode()), self.offset), MARKER)]

    for base in (MyDialect, type(XML)):
        dialect = _overriding(base, {"create_parser": lambda self, prompt_data: Marking()})
        assert pg.parse("hello", dialect).content == MARKER
        recording = Recording("r", "", (TextChunk("hello"),))
        assert pg.replay(recording, dialect).result.content == MARKER


# Marks of a dialect's own


def test_own_marks_are_shown_where_they_stand_and_give_way_to_a_chosen_policy() -> None:
    dialect = _overriding(MyDialect, {"inject_prompt_cache": _mark_last})
    placed = pg.place_cache(sample(), dialect)
    assert placed.policy == "own"
    assert [part.text for part in placed.marks] == [MARKER]
    assert {part.decision.reason for part in placed.marks} == {"own-mark"}
    chosen = pg.place_cache(sample(), dialect, policy="system-only")
    assert chosen.policy == "system-only"
    assert [part.message for part in chosen.marks] == [0]
    (own,) = [pg.simulate_cache(sample(), dialect=dialect)]
    assert own.policy == "own"
    assert all(len(request.marks) == 1 for request in own.row)


def test_a_chosen_policy_replaces_the_dialects_own_marking_in_every_view() -> None:
    """Its texts, too: some views showed them, others did not."""
    bases: list[type[Dialect]] = [MyDialect, type(XML)]
    for base, policy in product(bases, ("azad", "none", "system-only")):
        dialect = _overriding(base, {"inject_prompt_cache": _mark_last})
        cells = pg.cache_matrix(sample(), dialect, policies=[policy, "own", "claude-code"])
        assert [cell.policy for cell in cells] == [policy, "own", "claude-code"]
        views = [_wire_texts(cell) for cell in cells]
        views.append([part.text for part in pg.place_cache(sample(), dialect, policy=policy).parts])
        views.append([b.text for b in pg.cache_on_wire(sample(), dialect, policy=policy).sent])
        for marks in (policy, "own"):
            shortened = pg.compaction(sample(), dialect, marks=marks).everything
            views.append(_wire_texts(shortened.simulation))
        seen = [MARKER in texts for texts in views]
        assert seen == [False, True, False, False, False, False, True]


@pytest.mark.parametrize("policy", ["", "azad", "none", "system-only", "claude-code"])
def test_marks_of_own_messages_stay_beside_those_of_a_policy_in_every_view(policy: str) -> None:
    """The simulation lost them, and placement did not."""

    def format_messages(self: Any, *arguments: Any, **keywords: Any) -> list[dict[str, Any]]:
        messages = list(super(type(self), self).format_messages(*arguments, **keywords))
        part = {"type": "text", "text": "x " * 3000, "cache_control": {"type": "ephemeral"}}
        return [messages[0], {"role": "user", "content": [part]}, *messages[1:]]

    for base in (MyDialect, type(XML)):
        dialect = _overriding(base, {"format_messages": format_messages})
        placed = pg.place_cache(sample(), dialect, policy=policy)
        places = [(part.message, part.part) for part in placed.marks]
        assert (1, 0) in places
        cell = pg.simulate_cache(sample(), dialect=dialect, policy=policy)
        last = cell.row[-1]
        assert [last.wire.blocks[block].place for block in sorted(last.marks)] == places
        wire = pg.cache_on_wire(sample(), dialect, policy=policy).sent
        assert sum(block.ttl is not None for block in wire) == len(places)


def _wire_texts(cell: Any) -> list[str]:
    return [block.text for request in cell.row for block in request.wire.blocks]


def test_own_marks_have_a_row_among_all_policies_and_no_other_dialect_has_it() -> None:
    dialect = _overriding(MyDialect, {"inject_prompt_cache": _mark_last})
    cells = [(cell.dialect, cell.policy) for cell in pg.cache_matrix(sample(), [dialect, "xml"])]
    of_xml = [policy for name, policy in cells if name == "xml"]
    assert "own" not in of_xml
    assert [policy for name, policy in cells if name != "xml"] == ["own", *of_xml]
    assert "own marks" in pg.simulate_cache(sample(), dialect=dialect).html()
    for view in (pg.place_cache, pg.cache_on_wire):
        assert view(sample(), dialect, policy="own").policy == "own"
        assert view(sample(), "xml", policy="own").policy == "azad"


def test_messages_that_are_written_as_before_keep_their_origins() -> None:
    def format_messages(self, prompt_data, rules_path=None):
        first, *others = MyDialect.format_messages(self, prompt_data, rules_path)
        return [first, {"role": "user", "content": MARKER}, *others]

    plain = pg.compare(sample(), [MyDialect()]).columns[0].rendering
    found = pg.compare(sample(), [_overriding(MyDialect, {"format_messages": format_messages})])
    blocks = found.columns[0].rendering.blocks
    assert [blocks[0], *blocks[2:]] == plain.blocks
    assert [(block.origin, block.kind) for block in blocks[1]] == [("format_messages", "user")]


WRONG_MESSAGE = [{"content": "no role"}]
WRONG_CALL = [{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}, {"function": 5}]}]
WRONG_PART = [{"role": "user", "content": [{"type": "text", "text": "x"}, 5]}]
VALUES = st.recursive(
    st.sampled_from([None, 5, "", "user", True, CacheDecision(True, "own-mark", 9, 9)]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.tuples(inner)
        | st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("role", "content", "type", "text", "tool_calls"), inner)
        )
        | st.builds(lambda content: {"role": "user", "content": content}, inner)
    ),
    max_leaves=4,
)


def _fault(view: Callable[[Dialect], object], dialect: Dialect) -> str:
    try:
        view(dialect)
    except InputFault as fault:
        return str(fault)
    return ""


@given(
    base=st.sampled_from([MyDialect, type(XML)]), method=st.sampled_from([*OVERRIDES]), value=VALUES
)
@example(base=MyDialect, method="format_messages", value=WRONG_PART)
@example(base=MyDialect, method="format_messages", value=WRONG_MESSAGE)
@example(base=MyDialect, method="format_messages", value=WRONG_CALL)
@example(base=MyDialect, method="format_messages", value=[None])
@example(
    base=MyDialect,
    method="format_messages",
    value=[{"role": "user", "content": [{"text": "no type"}]}],
)
@example(base=MyDialect, method="format_history", value="text")
@example(base=MyDialect, method="format_tool_docs", value=None)
@example(base=MyDialect, method="format_system_prompt", value="text")
@example(base=MyDialect, method="format_history_item", value="text")
@example(base=MyDialect, method="inject_prompt_cache", value=5)
@settings(max_examples=15, deadline=None)
def test_a_wrong_value_of_an_override_is_one_clear_fault_in_every_view(
    base: type[Dialect], method: str, value: Any
) -> None:
    """Or no view fails on it. Installed, such a dialect is left out by name."""
    dialect = _overriding(base, {method: lambda self, *given, **named: deepcopy(value)})
    faults = {name: _fault(view, dialect) for name, view in VIEWS.items()}
    where = f"{method} of dialect {dialect.name!r}"
    if fault := faults["render"]:
        assert fault.startswith(where)
        assert set(faults.values()) == {fault}
        assert fault_of(dialect).startswith(where)
    else:  # an adapter may refuse what it would have to send, such as no message of the user
        refusing = {name for name, fault in faults.items() if fault}
        assert refusing <= {"cache_on_wire", "provider_payload"}


@pytest.mark.parametrize(
    "content", [5, {"a": 1}, [5], ["a", {"type": "text", "text": "b"}], [None]]
)
@pytest.mark.parametrize("policy", ["azad", "claude-code", "openhands", "swe-agent"])
def test_content_of_no_known_form_stays_as_it_is_and_takes_no_mark(
    content: Any, policy: str
) -> None:
    """Azad's own warns and goes on; a number became a marked text, or an AttributeError."""
    data = PromptData(task_config=TaskConfig(model_name="anthropic/claude-sonnet-4-5"))
    odd = {"role": "user", "content": deepcopy(content)}
    messages = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}, odd]
    decisions = MyDialect().with_policy(policy).inject_prompt_cache(messages, data)
    kept = [
        {k: v for k, v in part.items() if k != "cache_control"} if isinstance(part, dict) else part
        for part in (odd["content"] if isinstance(odd["content"], list) else [])
    ]
    assert (kept or odd["content"]) == content
    assert any(decision.marked for decision in decisions)


# DSPy's adapters

DSPY_METHODS = (
    "format_system_message",
    "format_field_description",
    "format_field_structure",
    "format_task_description",
    "format_user_message_content",
    "user_message_output_requirements",
    "format_assistant_message_content",
    "format_field_with_value",
    "format_demos",
    "format_conversation_history",
)


@pytest.mark.parametrize("method", DSPY_METHODS)
@pytest.mark.parametrize("adapter", [ChatAdapter, JSONAdapter, XMLAdapter])
def test_an_adapters_override_is_in_the_messages_that_it_formats(
    adapter: type[ChatAdapter], method: str
) -> None:
    returns_turns = method in ("format_demos", "format_conversation_history")
    answer = [{"role": "user", "content": MARKER}] if returns_turns else MARKER
    own = type("Own", (adapter,), {method: lambda self, *given, **named: answer})()
    signature = Signature.parse("question, history: History -> answer, score: float")
    demo = {"question": "a", "answer": "b", "score": 1.0}
    inputs = {"question": "c", "history": History(messages=[demo])}
    assert MARKER in str(own.format(signature, [demo], inputs))


def test_a_field_is_named_by_a_text_by_our_key_or_by_dspys() -> None:
    class Theirs(NamedTuple):
        name: str
        info: Any

    keys = ["a", FieldInfoWithName("a", None), Theirs("a", FieldInfo(annotation=str))]
    for adapter in (ChatAdapter(), JSONAdapter(), XMLAdapter()):
        assert len({adapter.format_field_with_value({key: "x"}) for key in keys}) == 1


def test_an_override_that_calls_the_original_keeps_an_image() -> None:
    class Own(ChatAdapter):
        def format_user_message_content(self, *given: Any, **named: Any) -> str:
            return f"{MARKER}\n{super().format_user_message_content(*given, **named)}"

    signature = Signature.parse("picture: Image -> answer")
    (_, message) = Own().format(signature, [], {"picture": Image(url="https://e.x/a.png")})
    kinds = [part["type"] for part in message["content"]]
    assert "image_url" in kinds
    assert MARKER in str(message["content"][0])


def test_a_prefix_without_fields_stands_two_line_breaks_before_the_suffix() -> None:
    signature = Signature.parse("question -> answer")
    found = ChatAdapter().format_user_message_content(signature, {}, prefix="a", suffix="b")
    assert found == "a\n\nb"


def test_a_message_is_copied_as_azads_override_messages_copies_it() -> None:
    data = sample().prompt_data()
    data.messages = [message.model_copy() for message in data.messages]
    assert data.messages == list(sample().messages)
    first = data.messages[0].model_copy(update={"role": "assistant"})
    assert (first.role, first.parts) == ("assistant", data.messages[0].parts)
    call = next(message for message in data.messages if message.tool_calls)
    copied = call.model_copy(deep=True)
    copied.tool_calls[0].args["new"] = 1
    assert "new" not in call.tool_calls[0].args


def test_equal_messages_keep_their_own_places() -> None:
    said = [{"role": role, "content": "again"} for role in ("user", "assistant") * 3]
    session = pg.session(said, model="anthropic/claude-sonnet-4-5")

    def format_messages(self, prompt_data, rules_path=None):
        return MyDialect.format_messages(self, prompt_data, rules_path)

    own = _overriding(MyDialect, {"format_messages": format_messages})
    plain = pg.compare(session, [MyDialect()]).columns[0].rendering.blocks
    assert pg.compare(session, [own]).columns[0].rendering.blocks == plain


def test_marks_of_an_own_request_are_found_in_every_providers_form() -> None:
    part = {"type": "text", "text": MARKER, "prompt_cache_breakpoint": {"mode": "explicit"}}
    message = {"role": "user", "content": [part]}
    dialect = _overriding(MyDialect, {"format_messages": lambda self, *given: [message]})
    placed = pg.place_cache(sample(), dialect, model="openai/gpt-6.1-sol")
    assert [found.text for found in placed.marks] == [MARKER]
