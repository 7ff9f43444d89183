"""A session that grows and changes is written as if no dialect remembered anything."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.dialects import Dialect, get_dialect
from playground.dialects.base import set_marks, set_own_marks
from playground.dialects.history import History
from playground.dialects.marks.policies import POLICIES
from playground.dialects.rendering import Block, Draft, message_text
from playground.dialects.request_messages import RequestMessages
from playground.nouns.messages import (
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.nouns.prompt_data import DynamicTaskConfig, PromptData, TaskConfig
from playground.nouns.tools import ToolMetadata

DIALECTS = ("xml", "hermes", "native", "qwen3-coder")
TEXTS = st.sampled_from(["", "so", "</x>", "a\nb"])
ARGUMENTS = st.fixed_dictionaries({"path": st.sampled_from([1, True, "a", None, [0], {"b": 1}])})
PARTS: st.SearchStrategy[Part] = (
    st.builds(TextPart, TEXTS)
    | st.builds(ToolCallPart, st.just("c"), st.sampled_from(["list", "find"]), ARGUMENTS)
    | st.builds(ToolResultPart, st.just("c"), st.just("list"), TEXTS | st.lists(TEXTS, min_size=1))
    | st.builds(ImagePart, st.just("https://example.org/a.png"))
)
MESSAGES = st.builds(
    Message, st.sampled_from(["system", "user", "assistant", "tool"]), st.lists(PARTS).map(tuple)
)


def tool(name: str, kind: str) -> ToolMetadata:
    schema = {"type": "object", "properties": {"path": {"type": kind}}}
    return ToolMetadata(name=name, input_schema=schema)


def write_into(messages: list[Message], kind: str) -> None:
    """The arguments and results that stand in messages, in place."""
    for message in messages:
        for call in message.tool_calls:
            call.args["path"] = kind
        for result in message.tool_results:
            if isinstance(result.result, list):
                result.result.append(kind)


@given(data=st.data())
def test_whatever_becomes_of_a_session_each_dialect_writes_it_anew(data: st.DataObject) -> None:
    tools = [tool("list", "string"), tool("find", "string")]
    messages: list[Message] = data.draw(st.lists(MESSAGES, min_size=1))
    steps: dict[str, Callable[[], Any]] = {
        "more": lambda: messages.extend(data.draw(st.lists(MESSAGES, max_size=3))),
        "less": lambda: messages.__delitem__(slice(data.draw(st.integers(1, 9)), None)),
        "another": lambda: messages.__setitem__(-1, data.draw(MESSAGES)),
        "again": lambda: messages.append(data.draw(st.sampled_from(messages))),
        "tool": lambda: tools.__setitem__(0, tool("list", data.draw(st.sampled_from(KINDS)))),
        "written": lambda: write_into(messages, data.draw(st.sampled_from(KINDS))),
        "nothing": lambda: None,
    }
    environment = DynamicTaskConfig(dynamic_environment_details_block=data.draw(TEXTS))
    for _ in range(data.draw(st.integers(1, 6))):
        steps[data.draw(st.sampled_from(sorted(steps)))]()
        given = PromptData(
            tool_metadata=tools,
            task_config=TaskConfig(user_agent_prompt=data.draw(TEXTS), system_rules=False),
            dynamic_task_config=environment,
        )
        given.messages = list(messages)  # the very objects, as a session hands them over
        assert_as_written_anew(get_dialect(data.draw(st.sampled_from(DIALECTS))), given)


KINDS = ("string", "array", "integer")


def assert_as_written_anew(dialect: Dialect, given: PromptData) -> None:
    """Beside messages and tools that nobody has seen; as text, since 1 is True to a comparison."""
    anew = given.model_copy(deep=True)
    found, expected = dialect.render(given), dialect.render(anew)
    assert repr(found) == repr(expected)
    assert repr(found.messages) == repr(expected.messages)
    assert found.blocks == expected.blocks


DRAFTS = st.lists(
    st.builds(
        lambda role, text, listed: Draft(
            {"role": role, "content": [{"type": "text", "text": text}] if listed else text},
            (Block("message:0", "user", text),),
        ),
        st.sampled_from(["system", "user", "assistant"]),
        TEXTS,
        st.booleans(),
    )
)


def plain(drafts: list[Draft]) -> list[dict[str, Any]]:
    """Neighbours of one role joined, over and over from the first: the slow way."""
    found: list[dict[str, Any]] = []
    for message in (copy.deepcopy(draft.message) for draft in drafts):
        content = message["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if not content or (len(parts) == 1 and not parts[0]["text"]):
            continue
        if found and found[-1]["role"] == message["role"]:
            before = found[-1]["content"]
            if isinstance(before, str):
                before = [{"type": "text", "text": before}]
            found[-1]["content"] = [*before, *parts]
        else:
            found.append(message)
    return found


@given(drafts=DRAFTS, cut=st.integers(0, 9), policy=st.sampled_from(sorted(POLICIES)))
def test_a_request_is_the_list_of_its_messages(drafts: list[Draft], cut: int, policy: str) -> None:
    system = Draft({"role": "system", "content": "Be."}, (Block("system", "system", "Be."),))
    before = History().extended_with(drafts[:cut])
    shorter, found = (
        RequestMessages(system, h) for h in (before, before.extended_with(drafts[cut:]))
    )
    expected = plain([system, *drafts])
    places = range(-len(expected), len(expected))
    assert (len(found), list(found), found[1:]) == (len(expected), expected, expected[1:])
    assert [found[place] for place in places] == expected + expected
    told = ["".join(block.text for block in blocks) for blocks in found.blocks]
    assert told == list(map(message_text, expected))
    for role in ("system", "user", "assistant"):
        at = [place for place, message in enumerate(expected) if message["role"] == role]
        assert found.last_with("role", role, 2) == at[-2:]
    data = PromptData()
    assert set_own_marks(found, policy, data) == set_marks(expected, policy, data)
    assert found.all_writable() == expected
    assert shorter.all_writable() == plain([system, *drafts[:cut]]), (
        "what one wrote into is another's"
    )


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_from_another_process_is_found_among_ours(name: str) -> None:
    script = (
        "import pickle, sys\nfrom playground.dialects import get_dialect\n"
        f"dialect = get_dialect({name!r})\nhash(dialect)\n"
        "sys.stdout.buffer.write(pickle.dumps(dialect))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    dialect = pickle.loads(done.stdout)
    assert {get_dialect(name): "ours"}.get(dialect) == "ours"
