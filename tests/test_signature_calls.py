"""Asking a model through an adapter: tools, reasoning and schemas beside the messages, awaited too.

What is expected is what DSPy 3.4.1 asks and reads; `benchmarks/against_dspy.py` compares at random.
"""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

import pytest
from pydantic import BaseModel

import playground.signatures as ps
from playground.agents import ChatMessage, MessageRole, ScriptedModel
from playground.base.errors import InputFault
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.dspy import native

TOOL = ps.Tool(
    name="tides",
    desc="When the water is high.",
    args={"place": {"type": "string"}, "days": {"type": "integer", "default": 1}},
)
OFFERED = {
    "type": "function",
    "function": {
        "name": "tides",
        "description": "When the water is high.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string"},
                "days": {"type": "integer", "default": 1},
            },
            "required": ["place"],
        },
    },
}
CALL = {"id": "c1", "function": {"name": "tides", "arguments": '{"place": "Brest"}'}}
CALLS = ps.ToolCalls.model_validate([{"id": "c1", "name": "tides", "args": {"place": "Brest"}}])
ASK = ps.Signature.parse("question, tools: list[Tool] -> calls: ToolCalls, answer: int | None")
INPUTS = {"question": "When?", "tools": [TOOL]}
ADAPTERS = [ps.ChatAdapter, ps.JSONAdapter, ps.XMLAdapter]
every_adapter = pytest.mark.parametrize("adapter", ADAPTERS)


class Model:
    """A model as DSPy calls it: answers from a script, and what it can do."""

    kwargs: dict[str, Any] = {}
    model, model_type = "own", "chat"

    def __init__(self, *answers: Any, can: str = "", takes: str = "") -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []
        self.supports_function_calling = "call" in can
        self.supports_reasoning = "reason" in can
        self.supports_response_schema = "schema" in can
        self.supported_params = set(takes.split())

    def __call__(self, *, messages: list[dict[str, Any]], **parameters: Any) -> list[Any]:
        self.requests.append((messages, parameters))
        return [self.answers.pop(0)]

    async def acall(self, *, messages: list[dict[str, Any]], **parameters: Any) -> list[Any]:
        await asyncio.sleep(0)
        return self(messages=messages, **parameters)


@every_adapter
def test_tools_go_beside_the_messages_and_calls_come_from_beside_the_text(adapter: Any) -> None:
    lm = Model({"text": None, "tool_calls": [CALL]}, can="call")
    asker = adapter(use_native_function_calling=True, parallel_tool_calls=True)
    assert asker(lm, {"temperature": 0}, ASK, [], INPUTS) == [{"calls": CALLS, "answer": None}]
    ((messages, parameters),) = lm.requests
    assert parameters == {
        "temperature": 0,
        "tools": [OFFERED],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
    }
    assert messages == asker.format(
        ps.Signature.parse("question -> answer: int | None", ASK.instructions),
        [],
        {"question": "When?"},
    )


@every_adapter
def test_a_model_that_cannot_call_is_told_of_tools_in_words(adapter: Any) -> None:
    answer = adapter().format_assistant_message_content(ASK, {"calls": CALLS, "answer": 2})
    lm = Model(answer)
    given = {"tools": ["x"], "tool_choice": "auto", "top_p": 1}
    said = adapter(use_native_function_calling=True)(lm, given, ASK, [], INPUTS)
    plain = ps.ToolCalls.model_validate([{"name": "tides", "args": {"place": "Brest"}}])
    assert said == [{"calls": plain, "answer": 2}]
    ((messages, parameters),) = lm.requests
    assert parameters == {"top_p": 1}
    assert "tides, whose description is" in messages[-1]["content"]


@every_adapter
def test_a_call_is_awaited_with_the_same_request_and_the_same_fields(adapter: Any) -> None:
    answers = ["two", '{"answer": 2}'] if adapter is not ps.JSONAdapter else ['{"answer": 2}']
    one = ps.Signature.parse("question -> answer: int")
    first, second = Model(*answers), Model(*answers)
    given: Any = ({"top_p": 1}, one, [], {"question": "1 + 1?"})
    said = adapter()(first, *given)
    assert said == asyncio.run(adapter().acall(second, *given)) == [{"answer": 2}]
    assert first.requests == second.requests
    assert len(first.requests) == len(answers)


@every_adapter
def test_who_waits_for_an_answer_lets_others_go_on(adapter: Any) -> None:
    one = ps.Signature.parse("question -> answer")
    order: list[str] = []

    class Slow(Model):
        async def acall(self, *, messages: Any, **parameters: Any) -> list[Any]:
            order.append("asked")
            await asyncio.sleep(0)
            return self(messages=messages, **parameters)

    async def both() -> None:
        text = adapter().format_assistant_message_content(one, {"answer": "x"})
        asked = [adapter().acall(Slow(text), {}, one, [], {"question": "?"}) for _ in range(2)]
        order.extend(str(found[0]["answer"]) for found in await asyncio.gather(*asked))

    asyncio.run(both())
    assert order == ["asked", "asked", "x", "x"]


def test_arguments_that_are_no_object_are_a_fault_of_the_answer() -> None:
    broken = {"id": "1", "function": {"name": "tides", "arguments": '["Brest"]'}}
    lm = Model({"text": "", "tool_calls": [broken]}, can="call")
    with pytest.raises(ps.AnswerFault, match="cannot be read"):
        ps.JSONAdapter()(lm, {}, ASK, [], INPUTS)
    empty = {"call_id": "c2", "id": "fc", "name": "tides", "arguments": ""}
    lm = Model({"text": "", "tool_calls": [empty]}, can="call")
    (said,) = ps.JSONAdapter()(lm, {}, ASK, [], INPUTS)
    assert [(call.id, call.args) for call in said["calls"].tool_calls] == [("c2", {})]


def test_calls_without_tools_are_refused_before_anybody_is_asked() -> None:
    lm = Model()
    with pytest.raises(InputFault, match="no input of the signature takes tools"):
        ps.JSONAdapter()(lm, {}, ps.Signature.parse("question -> calls: ToolCalls"), [], {})
    assert lm.requests == []


class Berth(BaseModel):
    name: str
    metres: float | None = None


def test_a_model_that_knows_schemas_is_asked_for_the_outputs_own() -> None:
    one = ps.Signature.parse("question -> schema: list[int], day: datetime.date | None")
    one = ps.Signature(one.inputs, {**one.outputs, "berth": ps.Field(Berth)})
    lm = Model(
        '{"schema": [1], "day": "2026-02-03", "berth": {"name": "B2"}}',
        can="schema",
        takes="response_format",
    )
    (said,) = ps.JSONAdapter()(lm, {}, one, [], {"question": "?"})
    assert said == {"schema": [1], "day": datetime.date(2026, 2, 3), "berth": Berth(name="B2")}
    assert lm.requests[0][1]["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "DSPyProgramOutputs",
            "strict": True,
            "schema": {
                "$defs": {
                    "Berth": {
                        "properties": {
                            "name": {"title": "Name", "type": "string"},
                            "metres": {
                                "anyOf": [{"type": "number"}, {"type": "null"}],
                                "default": None,
                                "title": "Metres",
                            },
                        },
                        "required": ["name", "metres"],
                        "additionalProperties": False,
                        "title": "Berth",
                        "type": "object",
                    }
                },
                "additionalProperties": False,
                "properties": {
                    "schema": {"items": {"type": "integer"}, "title": "Schema", "type": "array"},
                    "day": {
                        "anyOf": [{"format": "date", "type": "string"}, {"type": "null"}],
                        "title": "Day",
                    },
                    "berth": {"$ref": "#/$defs/Berth"},
                },
                "required": ["schema", "day", "berth"],
                "title": "DSPyProgramOutputs",
                "type": "object",
            },
        },
    }


@pytest.mark.parametrize(
    ("outputs", "can", "takes", "form"),
    [
        ("answer: int", "schema", "", None),
        ("answer: int", "", "response_format", {"type": "json_object"}),
        ("answer: dict[str, int]", "schema", "response_format", {"type": "json_object"}),
    ],
)
def test_otherwise_any_object_is_asked_for_or_nothing(
    outputs: str, can: str, takes: str, form: Any
) -> None:
    one = ps.Signature.parse(f"question -> {outputs}")
    assert native.response_format(Model(can=can, takes=takes), one, calls_tools=True) == form


def test_calls_as_text_have_no_schema() -> None:
    lm = Model(can="schema", takes="response_format")
    assert native.response_format(lm, ASK, calls_tools=False) == {"type": "json_object"}
    wanted = native.response_format(lm, ASK, calls_tools=True) or {}
    assert list(wanted["json_schema"]["schema"]["properties"]) == ["answer"]


THINK = ps.Signature.parse("question -> thought: Reasoning, answer: int")


@pytest.mark.parametrize(
    ("own", "given", "effort"),
    [
        ({}, {}, "low"),
        ({"reasoning_effort": "high"}, {}, "high"),
        ({}, {"reasoning_effort": "x"}, "x"),
    ],
)
def test_reasoning_leaves_the_prompt_of_a_model_that_reasons(
    own: Any, given: Any, effort: str
) -> None:
    text = "[[ ## answer ## ]]\n2\n"
    lm = Model({"text": text, "reasoning_content": "1 and 1"}, can="reason")
    lm.kwargs = own
    (said,) = ps.ChatAdapter()(lm, given, THINK, [], {"question": "1 + 1?"})
    assert said == {"thought": ps.Reasoning(content="1 and 1"), "answer": 2}
    ((messages, parameters),) = lm.requests
    assert parameters == {"reasoning_effort": effort}
    assert "## thought" not in str(messages)


@pytest.mark.parametrize(
    ("can", "name", "given"),
    [
        ("", "own", {}),
        ("reason", "openai/gpt-5", {}),
        ("reason", "own", {"reasoning_effort": None}),
    ],
)
def test_reasoning_is_a_field_of_text_otherwise(can: str, name: str, given: Any) -> None:
    lm = Model("[[ ## thought ## ]]\nso\n[[ ## answer ## ]]\n2", can=can)
    lm.model = name
    (said,) = ps.ChatAdapter()(lm, given, THINK, [], {"question": "1 + 1?"})
    assert said == {"thought": ps.Reasoning(content="so"), "answer": 2}
    assert "`[[ ## thought ## ]]`" in lm.requests[0][0][-1]["content"]


TALK = ps.Signature.parse("question, history: History, tools: list[Tool] -> calls: ToolCalls, note")
EARLIER = {
    "question": "When?",
    "note": "I look.",
    "calls": {
        "tool_calls": [{"id": "c1", "name": "tides", "args": {"place": "Brest"}}],
        "tool_call_results": [{"call_id": "c1", "name": "tides", "value": {"high": ["7:04"]}}],
    },
}


def test_calls_of_a_history_are_messages_of_the_api_where_calls_are_native() -> None:
    asker = ps.ChatAdapter(use_native_function_calling=True)
    inputs = {"question": "And now?", "history": ps.History(messages=[EARLIER])}
    messages = asker.format(TALK, [], inputs)
    assert [message["role"] for message in messages[1:]] == ["user", "assistant", "tool", "user"]
    assert messages[2:4] == [
        {
            "role": "assistant",
            "content": "[[ ## note ## ]]\nI look.\n\n[[ ## completed ## ]]\n",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "tides", "arguments": '{"place": "Brest"}'},
                }
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "name": "tides",
            "content": '{"high": ["7:04"]}',
        },
    ]


def test_calls_of_a_history_are_fields_otherwise_and_their_results_a_turn() -> None:
    inputs = {"question": "And now?", "history": ps.History(messages=[EARLIER])}
    messages = ps.ChatAdapter().format(TALK, [], inputs)
    assert messages[2]["content"] == (
        "[[ ## calls ## ]]\n"
        '{"tool_calls": [{"name": "tides", "args": {"place": "Brest"}}]}\n\n'
        "[[ ## note ## ]]\nI look.\n\n[[ ## completed ## ]]\n"
    )
    assert messages[3] == {
        "role": "user",
        "content": "[[ ## tool_call_results ## ]]\n"
        '{"tool_call_results": [{"call_id": "c1", "name": "tides", "value": {"high": ["7:04"]}, '
        '"is_error": false}]}',
    }


@pytest.mark.parametrize("ids", [["c2"], ["c1", "c2"], []])
def test_calls_whose_results_do_not_answer_them_are_not_sent(ids: list[str]) -> None:
    results = [{"call_id": one, "name": "tides", "value": "x"} for one in ids]
    turn = {**EARLIER, "calls": {**EARLIER["calls"], "tool_call_results": results}}  # type: ignore[dict-item]
    asker = ps.ChatAdapter(use_native_function_calling=True)
    history = ps.History(messages=[turn])
    messages = asker.format(TALK, [], {"question": "And now?", "history": history})
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "tool_calls" not in messages[2]


class Calling(ScriptedModel):
    """A chat model of ours that can be offered tools."""

    supports_function_calling = True
    seen_tools: list[ToolMetadata]

    def complete(self, messages: Any, tools: Any = (), **parameters: Any) -> Any:
        self.seen_tools = list(tools)
        return super().complete(messages, tools, **parameters)


def test_a_chat_model_of_ours_is_offered_tools_and_calls_them() -> None:
    function = {"name": "tides", "arguments": {"place": "Brest"}}
    call = {"id": "c1", "type": "function", "function": function}
    answer = ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[call])
    for awaited in (False, True):
        lm = Calling([answer])
        given: Any = (lm, {}, ASK, [], INPUTS)
        asker = ps.JSONAdapter()
        said = asyncio.run(asker.acall(*given)) if awaited else asker(*given)
        assert said == [{"calls": CALLS, "answer": None}]
        assert [tool.name for tool in lm.seen_tools] == ["tides"]


def test_what_xml_cannot_read_is_asked_again_as_json() -> None:
    one = ps.Signature.parse("question -> answer: int")
    lm = Model("two", '{"answer": 2}')
    assert ps.XMLAdapter()(lm, {}, one, [], {"question": "1 + 1?"}) == [{"answer": 2}]
    stubborn = ps.XMLAdapter(use_json_adapter_fallback=False)
    with pytest.raises(ps.AnswerFault):
        asyncio.run(stubborn.acall(Model("two"), {}, one, [], {"question": "1 + 1?"}))


def test_a_tool_says_which_arguments_a_call_must_have() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]}
    tool = ps.Tool.of(ToolMetadata(name="t", description="d", input_schema=schema))
    assert tool.format_as_litellm_function_call()["function"]["parameters"] == schema


# a signature as a class, as DSPy's own adapters are given it


class Masts(BaseModel):
    """Count."""

    question: str = ps.InputField()
    masts: int = ps.OutputField()


SIGNATURE_METHODS: list[tuple[str, tuple[Any, ...]]] = [
    ("format", ([], {"question": "a"})),
    ("format_assistant_message_content", ({"masts": 2},)),
    ("format_conversation_history", ("history", {"history": ps.History(messages=[])})),
    ("format_demos", ([{"question": "a", "masts": 2}],)),
    ("format_field_description", ()),
    ("format_field_structure", ()),
    ("format_finetune_data", ([], {"question": "a"}, {"masts": 2})),
    ("format_task_description", ()),
    ("format_user_message_content", ({"question": "a"},)),
    ("user_message_output_requirements", ()),
]


@every_adapter
@pytest.mark.parametrize(("method", "more"), SIGNATURE_METHODS)
def test_every_method_of_an_adapter_takes_the_signatures_class(
    adapter: Any, method: str, more: tuple[Any, ...]
) -> None:
    """It was an AttributeError deep inside."""
    run = getattr(adapter(), method)
    assert run(Masts, *more) == run(ps.Signature.of(Masts), *more)


@every_adapter
def test_an_adapter_asks_and_reads_by_the_signatures_class(adapter: Any) -> None:
    answer = adapter().format_assistant_message_content(Masts, {"masts": 2})
    assert adapter().parse(completion=answer, signature=Masts) == {"masts": 2}
    given: tuple[Any, ...] = ({}, Masts, [], {"question": "a"})
    assert adapter()(ScriptedModel([answer]), *given) == [{"masts": 2}]
    assert asyncio.run(adapter().acall(ScriptedModel([answer]), *given)) == [{"masts": 2}]
    with pytest.raises(InputFault, match="no signature: <class 'int'>"):
        adapter().parse(int, answer)


def test_an_adapter_of_ones_own_gets_the_signature_of_a_class() -> None:
    class Mine(ps.ChatAdapter):
        def format_task_description(self, signature: ps.Signature) -> str:
            return f"DO: {signature.instructions}"

    assert Mine().format(Masts, [], {"question": "a"})[0]["content"].endswith("DO: Count.")  # type: ignore[arg-type]


def test_an_adapter_of_ones_own_keeps_its_methods_as_they_are_written() -> None:
    """Every method with a parameter `signature` was replaced: an optional one was a KeyError."""

    class Counted:
        def __init_subclass__(cls, places: int = 0, **named: Any) -> None:
            super().__init_subclass__(**named)
            cls.places = places

        places = 0

    class Mine(ps.ChatAdapter, Counted, places=2):
        def described(self, signature: ps.Signature | None = None) -> str:
            return signature.instructions if signature else "nothing"

        own = described

    assert Mine().described() == "nothing"
    assert Mine().described(ps.Signature.of(Masts)) == "Count."
    assert Mine.described is Mine.own
    assert Mine.places == 2


@every_adapter
@pytest.mark.parametrize("given", ["q -> a", None, 7, int])
def test_what_is_no_signature_is_told_by_every_method(adapter: Any, given: Any) -> None:
    """A text was an AttributeError: 'str' has no attribute 'history_field'."""
    for method, more in SIGNATURE_METHODS:
        with pytest.raises(InputFault, match="no signature: .*Signature.parse reads a text"):
            getattr(adapter(), method)(given, *more)
    with pytest.raises(InputFault, match="no signature"):
        adapter()(ScriptedModel(["a"]), {}, given, [], {})


@pytest.mark.parametrize("adapter", [ps.ChatAdapter(), ps.JSONAdapter(), ps.XMLAdapter()])
@pytest.mark.parametrize("given", [{"messages": [{"question": "a", "answer": "b"}]}, "a", [], 5])
def test_a_history_in_another_form_is_refused(adapter: ps.FieldAdapter, given: object) -> None:
    """It was left out in silence; DSPy itself fails at its `messages`."""
    talk = ps.Signature.parse("question, history: History -> answer")
    with pytest.raises(InputFault, match=r"field history: no history: .*History\(messages="):
        adapter.format(talk, [], {"question": "And now?", "history": given})
    assert adapter.format(talk, [], {"question": "a"}) == adapter.format(
        talk, [], {"question": "a", "history": ps.History(messages=[])}
    )
