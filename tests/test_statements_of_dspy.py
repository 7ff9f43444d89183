"""Statements of DSPy's document of its ChatAdapter, each tried by a line of code."""

# mypy: ignore-errors
# A statement is one expression over code that has no types.

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel
from seed_statements import Statement, confirm, differs, each, raises, works

from playground.signatures import (
    AnswerFault,
    ChatAdapter,
    FieldInfoWithName,
    History,
    InputField,
    OutputField,
    Signature,
)


class Count(BaseModel):
    """Count the masts."""

    question: str = InputField(desc="what is asked")
    reasoning: str = OutputField()
    answer: int = OutputField()


CHAT: Final = ChatAdapter()
SIGNATURE: Final = Signature.of(Count)
WITH_HISTORY: Final = Signature.parse("question, history: History -> reasoning, answer: int")
DONE: Final = {"question": "q", "reasoning": "r", "answer": 2}
REPLY: Final = "[[ ## reasoning ## ]]\nso\n\n[[ ## answer ## ]]\n5\n\n[[ ## completed ## ]]\n"
MARKER: Final = "words of the override"


def roles(messages: Any) -> str:
    return " ".join(message["role"][0] for message in messages)


def overridden(method: str) -> bool:
    own = type("Own", (ChatAdapter,), {method: lambda self, *a, **k: MARKER})()
    return MARKER in str(own.format(SIGNATURE, [DONE], {"question": "q"}))


def asked_by_own_format() -> bool:
    own = type("Own", (ChatAdapter,), {"format": lambda self, *given: [{"content": MARKER}]})()
    asked: list[Any] = []
    own(lambda *, messages: asked.append(messages) or [REPLY], {}, SIGNATURE, [], {"question": "q"})
    return asked == [[{"content": MARKER}]]


DSPY: Final[list[Statement]] = [
    works("an adapter is made without arguments", lambda: ChatAdapter(callbacks=None)),
    works(
        "it is called with a model, parameters, signature, examples and inputs",
        lambda: (
            CHAT(lambda **_: [REPLY], {}, SIGNATURE, [], {"question": "q"})
            == [{"reasoning": "so", "answer": 5}]
        ),
    ),
    works(
        "format gives messages",
        lambda: roles(CHAT.format(SIGNATURE, [], {"question": "q"})) == "s u",
    ),
    works(
        "examples are turns, before the history, before the inputs",
        lambda: (
            roles(
                CHAT.format(
                    WITH_HISTORY, [DONE], {"question": "now", "history": History(messages=[DONE])}
                )
            )
            == "s u a u a u"
        ),
    ),
    works(
        "the system message has description, structure and task",
        lambda: all(
            part in CHAT.format(SIGNATURE, [], {"question": "q"})[0]["content"]
            for part in (
                CHAT.format_field_description(SIGNATURE),
                CHAT.format_field_structure(SIGNATURE),
                CHAT.format_task_description(SIGNATURE),
            )
        ),
    ),
    works(
        "format_assistant_message_content writes outputs",
        lambda: (
            CHAT.format_assistant_message_content(SIGNATURE, DONE)
            == "[[ ## reasoning ## ]]\nr\n\n[[ ## answer ## ]]\n2\n\n[[ ## completed ## ]]\n"
        ),
    ),
    works(
        "missing_field_message stands for what is missing",
        lambda: (
            "none"
            in CHAT.format_assistant_message_content(
                SIGNATURE, {"answer": 2}, missing_field_message="none"
            )
        ),
    ),
    works(
        "format_conversation_history gives the turns of a history",
        lambda: (
            roles(
                CHAT.format_conversation_history(
                    WITH_HISTORY.without("history"),
                    "history",
                    {"history": History(messages=[DONE])},
                )
            )
            == "u a"
        ),
    ),
    works(
        "format_demos gives turns",
        lambda: roles(CHAT.format_demos(SIGNATURE, [DONE, DONE])) == "u a u a",
    ),
    works(
        "format_field_description names fields with types and descriptions",
        lambda: "`question` (str): what is asked" in CHAT.format_field_description(SIGNATURE),
    ),
    works(
        "each field is a section with a marker",
        lambda: all(
            f"[[ ## {name} ## ]]" in CHAT.format_field_structure(SIGNATURE)
            for name in ("question", "reasoning", "answer")
        ),
    ),
    works(
        "a field `completed` ends the outputs",
        lambda: CHAT.format_field_structure(SIGNATURE).rstrip().endswith("[[ ## completed ## ]]"),
    ),
    works(
        "format_field_with_value takes DSPy's FieldInfoWithName as keys",
        lambda: (
            CHAT.format_field_with_value(
                {FieldInfoWithName("a", SIGNATURE.inputs["question"]): "v"}
            )
            == "[[ ## a ## ]]\nv"
        ),
    ),
    works(
        "several fields are one text of several lines",
        lambda: (
            CHAT.format_field_with_value({"a": 1, "b": [2]})
            == "[[ ## a ## ]]\n1\n\n[[ ## b ## ]]\n[2]"
        ),
    ),
    works(
        "format_finetune_data gives messages with roles and contents",
        lambda: (
            roles(
                CHAT.format_finetune_data(
                    SIGNATURE, [], {"question": "q"}, {"reasoning": "r", "answer": 1}
                )["messages"]
            )
            == "s u a"
        ),
    ),
    works(
        "format_task_description has the docstring",
        lambda: "Count the masts." in CHAT.format_task_description(SIGNATURE),
    ),
    works(
        "format_user_message_content takes a prefix and a suffix",
        lambda: (
            CHAT.format_user_message_content(SIGNATURE, {"question": "q"}, prefix="a", suffix="z")
            == "a\n\n[[ ## question ## ]]\nq\n\nz"
        ),
    ),
    works(
        "without inputs, two line breaks stand between them",
        lambda: CHAT.format_user_message_content(SIGNATURE, {}, prefix="a", suffix="z") == "a\n\nz",
    ),
    works(
        "main_request adds the reminder",
        lambda: CHAT.format_user_message_content(
            SIGNATURE, {"question": "q"}, main_request=True
        ).endswith(CHAT.user_message_output_requirements(SIGNATURE)),
    ),
    works(
        "parse gives typed fields",
        lambda: CHAT.parse(SIGNATURE, REPLY) == {"reasoning": "so", "answer": 5},
    ),
    works(
        "parse refuses what has no field",
        lambda: raises(AnswerFault, lambda: CHAT.parse(SIGNATURE, "no fields")),
    ),
    works(
        "the reminder is shorter than the structure, and names the outputs",
        lambda: (
            len(reminder := CHAT.user_message_output_requirements(SIGNATURE))
            < len(CHAT.format_field_structure(SIGNATURE))
            and "`[[ ## answer ## ]]`" in reminder
        ),
    ),
    works("format may be overridden", asked_by_own_format),
    works("so may format_user_message_content", lambda: overridden("format_user_message_content")),
    works("so may format_field_with_value", lambda: overridden("format_field_with_value")),
    differs(
        "a completion that is cut off is repaired by guessing",
        lambda: raises(
            AnswerFault,
            lambda: CHAT.parse(SIGNATURE, "[[ ## reasoning ## ]]\nso\n\n[[ ## answer ## ]]\n"),
        ),
        "signatures.md",
        "A field without a value at a cut is refused",
    ),
]


@each(DSPY)
def test_a_statement_of_dspys_document_is_true_here(statement: Statement) -> None:
    confirm(statement)
