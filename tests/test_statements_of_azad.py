"""Statements of Azad's document of its base dialect, each tried by a line of code."""

# mypy: ignore-errors
# A statement is one expression over code that has no types.

from __future__ import annotations

import inspect
from typing import Any, Final

from seed_statements import Statement, confirm, differs, each, raises, renamed, works
from test_own_dialects import MyDialect, OnlyFeed

import playground as pg
from playground.base.errors import InsufficientCreditsError, LedgerError, UnknownUserError
from playground.dialects import Dialect
from playground.dialects.preflight import CreditCheck, checks_from
from playground.nouns.events import Span, TextEvent
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import CacheDialect, DynamicTaskConfig, PromptData, TaskConfig
from playground.nouns.tools import ParameterMetadata, ToolExample, ToolMetadata
from playground.parsing.parser import DialectParser

CLAUDE, GEMINI, OTHER = "anthropic/claude-3", "gemini/gemini-2.5-pro", "gpt-4o"
TOOL: Final = ToolMetadata(
    name="tides",
    description="Tides.",
    parameters={"port": ParameterMetadata(description="its name"), "days": "how many"},
    required_parameters=["port"],
    examples=[ToolExample(explanation="Tomorrow", parameters={"port": "Brest"})],
)
TALK: Final = ("user", "assistant", "user", "assistant", "user")


def data(
    *texts: str,
    model: str = CLAUDE,
    tools: Any = (),
    agent: str = "",
    user: str = "",
    **dynamic: Any,
) -> PromptData:
    """Prompt data whose messages alternate between user and assistant."""
    roles: Any = (("user", "assistant")[n % 2] for n in range(len(texts)))
    messages = [Message(role, (TextPart(t),)) for role, t in zip(roles, texts, strict=True)]
    task = TaskConfig(model_name=model, user_agent_prompt=agent, user_prompt=user)
    return PromptData(
        messages=messages,
        tool_metadata=list(tools),
        task_config=task,
        dynamic_task_config=DynamicTaskConfig(**dynamic),
    )


def own(**methods: Any) -> Any:
    """A dialect like the document's, with other methods."""
    made: Any = type("Own", (MyDialect,), methods)
    return made()


def say(text: str) -> Any:
    return lambda *_: text


def marks(messages: list[Any], of: PromptData) -> list[tuple[int, int]]:
    """Return the places of marks written into the messages, by message and part."""
    MyDialect().inject_prompt_cache(messages, of)
    return [
        (m, p)
        for m, message in enumerate(messages)
        if isinstance(message["content"], list)
        for p, part in enumerate(message["content"])
        if isinstance(part, dict) and part.get("cache_control") == {"type": "ephemeral"}
    ]


def talk(*parts: int, first: str = "system") -> list[Any]:
    """A system message and a conversation; each message has so many parts, 0 for plain text."""
    roles = (first, *TALK)
    return [
        {"role": role, "content": [{"type": "text", "text": "x"} for _ in range(n)] or "x"}
        for role, n in zip(roles, (*parts, *[0] * len(roles)), strict=False)
    ]


def long(characters: int, *roles: str) -> list[Any]:
    share = "x" * (characters - len(roles) + 1)
    return [{"role": role, "content": share if n == 0 else "x"} for n, role in enumerate(roles)]


def gemini(**dynamic: Any) -> PromptData:
    return data(model=GEMINI, **{"enable_explicit_caching": True, **dynamic})


def system(of: PromptData, dialect: Any = None) -> str:
    text: str = (dialect or MyDialect()).format_messages(of)[0]["content"][0]["text"]
    return text


def order(text: str, *pieces: str) -> bool:
    places = [text.index(piece) for piece in pieces]
    return places == sorted(places)


class Ledger:
    """A ledger in which everybody has the same credits; below 0 it fails."""

    def __init__(self, left: int | None) -> None:
        self.left = left

    def credits(self, key: str) -> int | None:
        if self.left is not None and self.left < 0:
            raise OSError("the disk")
        return self.left


def checked(left: int | None, model: str) -> list[Any]:
    dialect = pg.get_dialect("xml").with_preflight(CreditCheck(Ledger(left), threshold=10))
    return dialect.format_messages(data("Hi", model=model, model_api_key="key"))


def refusal(left: int | None, error: Any) -> str:
    """The words of the error for a user with so many credits."""
    return raises(error, lambda: checked(left, "kodu/claude"))


MARKED: Final = own(
    format_dialect_rules=lambda self, prompt_data, rules_path=None: f"RULES {rules_path}",
    format_tool_docs=say("DOCS"),
    format_system_rules=say("SYSTEM"),
    format_user_prompt=say("USER"),
)
KEYS: Final = {
    "TOOL_USE_INSTRUCTION": "RULES",
    "AVAILABLE_TOOLS": "DOCS",
    "SYSTEM_INSTRUCTION": "SYSTEM",
    "USER_PROMPT": "USER",
}
ABSTRACT: Final = {
    "format_dialect_rules": ["prompt_data", "rules_path"],
    "format_example": ["tool_name", "parameters"],
    "format_tool_call": ["tool_call"],
    "format_tool_result": ["tool_result"],
    "format_history_item": ["item"],
    "create_parser": ["prompt_data"],
    "is_native_toolcalling": [],
}


def demanded(method: str) -> list[str]:
    takes = inspect.signature(getattr(Dialect, method)).parameters.values()
    return [p.name for p in takes if p.name != "self"][: len(ABSTRACT[method])]


STATEMENTS: Final[list[Statement]] = [
    # prompt data
    works("it has the messages", lambda: data("Hi").messages[0].text == "Hi"),
    works("it has the task's configuration", lambda: data(model="m").task_config.model_name == "m"),
    works("it has the tools", lambda: data(tools=[TOOL]).tool_metadata == [TOOL]),
    works(
        "it has the current assistant's id",
        lambda: PromptData(current_assistant_id="a").current_assistant_id == "a",
    ),
    works(
        "it has the dynamic configuration, in Azad's spelling too",
        lambda: PromptData(dyanmic_task_config=DynamicTaskConfig()).dyanmic_task_config is not None,
    ),
    works(
        "it is a pydantic model", lambda: PromptData.model_validate({"current_assistant_id": "a"})
    ),
    works(
        "override_messages takes copies of other messages",
        lambda: (lambda d: d.override_messages(data("Hi").messages) or d.messages)(PromptData()),
    ),
    works(
        "a message has model_copy",
        lambda: (m := data("Hi").messages[0]).model_copy() == m and m.model_copy() is not m,
    ),
    # what a subclass must define
    *(
        works(
            f"{method} is abstract, and takes {', '.join(names) or 'nothing'}",
            lambda method=method, names=names: (
                method in Dialect.__abstractmethods__ and demanded(method) == names
            ),
        )
        for method, names in ABSTRACT.items()
    ),
    works(
        "is_native_toolcalling may return None",
        lambda: own(is_native_toolcalling=lambda self: None).format_messages(data("Hi")),
    ),
    works(
        "format_history_item may return None, and the message is left out",
        lambda: len(own(format_history_item=say(None)).format_messages(data("Hi"))) == 1,
    ),
    works(
        "a dialect without one of them is abstract",
        lambda: raises(TypeError, type("Bare", (Dialect,), {})),
    ),
    # its example
    works(
        "format_example writes upper-case parameters",
        lambda: MyDialect().format_example("t", {"a": 1}) == "USE_TOOL: t\nA: 1\nEND_TOOL",
    ),
    works(
        "format_tool_call writes a call so",
        lambda: MyDialect().format_tool_call(ToolCallPart("1", "t", {"a": 1})).endswith("END_TOOL"),
    ),
    works(
        "format_tool_result writes name and result",
        lambda: (
            MyDialect().format_tool_result(ToolResultPart("1", "t", "r"))
            == "TOOL_RESULT: t\nr\nEND_RESULT"
        ),
    ),
    works("a dialect has a config", lambda: hasattr(MyDialect(), "config")),
    works("a dialect is created without arguments", lambda: isinstance(MyDialect(), Dialect)),
    # parsers
    works("feed takes bytes", lambda: OnlyFeed().feed(b"Hi") == [TextEvent(Span(0, 2), "Hi")]),
    works(
        "feed is a parser's one abstract method",
        lambda: DialectParser.__abstractmethods__ == {"feed"},
    ),
    works(
        "a reply is read by the dialect's parser",
        lambda: pg.parse("Hi", MyDialect()).content == "Hi",
    ),
    differs(
        "feed_tool_call_delta returns NotImplemented",
        lambda: OnlyFeed().feed_tool_call_delta({})[0].finding.code == "native-call",
        "own-dialect.md",
        "`feed_tool_call_delta` of a parser that reads only text",
    ),
    renamed(
        "feed returns events of AINetworkEventUnion",
        lambda: pg.parse("Hi", MyDialect()).events[0].__class__.__module__.endswith(".events"),
        "own-dialect.md",
        "from playground.events import",
    ),
    # schemas
    works(
        "format_tool_schema has name, description and input_schema",
        lambda: [*MyDialect().format_tool_schema(TOOL)] == ["name", "description", "input_schema"],
    ),
    works(
        "every parameter is a string, with its description",
        lambda: (
            MyDialect().format_tool_schema(TOOL)["input_schema"]["properties"]["port"]
            == {"type": "string", "description": "its name"}
        ),
    ),
    works(
        "a parameter that is no ParameterMetadata is described by its text",
        lambda: (
            MyDialect().format_tool_schema(TOOL)["input_schema"]["properties"]["days"]
            == {"type": "string", "description": "how many"}
        ),
    ),
    works(
        "the schema is an object that lists what is required",
        lambda: MyDialect().format_tool_schema(TOOL)["input_schema"]["required"] == ["port"],
    ),
    works(
        "format_tools_schema is the schema of each",
        lambda: (
            MyDialect().format_tools_schema([TOOL, TOOL])
            == [MyDialect().format_tool_schema(TOOL)] * 2
        ),
    ),
    # marks
    works(
        "marks are set in place, for Claude",
        lambda: marks(talk(), data()) == [(0, 0), (3, 0), (5, 0)],
    ),
    works(
        "they stand at the last system message",
        lambda: marks([*talk()[:1], *talk()[:1]], data()) == [(1, 0)],
    ),
    works(
        "at the last user message, and at the one before",
        lambda: marks(talk()[1:4], data()) == [(0, 0), (2, 0)],
    ),
    works(
        "the last user message is marked at its last two parts",
        lambda: marks(talk(0, 0, 0, 0, 0, 3), data())[-2:] == [(5, 1), (5, 2)],
    ),
    works(
        "the others at their last part alone",
        lambda: marks(talk(3, 0, 0, 2), data())[:2] == [(0, 2), (3, 1)],
    ),
    works(
        "text becomes a list with one part",
        lambda: marks(m := talk()[:1], data()) and m[0]["content"][0]["type"] == "text",
    ),
    works(
        "a mark is of the type ephemeral",
        lambda: (
            marks(m := talk()[:1], data())
            and m[0]["content"][0]["cache_control"] == {"type": "ephemeral"}
        ),
    ),
    works("an empty list takes none", lambda: not marks([{"role": "user", "content": []}], data())),
    works(
        "content of no known form takes none, and stays",
        lambda: not marks(m := [{"role": "user", "content": 5}], data()) and m[0]["content"] == 5,
    ),
    works(
        "a part that is no dict takes none, and stays",
        lambda: (
            not marks(m := [{"role": "user", "content": [5]}], data()) and m[0]["content"] == [5]
        ),
    ),
    works("other models take none", lambda: not marks(talk(), data(model=OTHER))),
    works(
        "a cache dialect for Claude is for Claude alone",
        lambda: (
            marks(talk(), data(cache_dialect=CacheDialect.ANTHROPIC))
            and not marks(talk(), gemini(cache_dialect=CacheDialect.ANTHROPIC))
        ),
    ),
    works(
        "one for Gemini is not for Claude",
        lambda: not marks(talk(), data(cache_dialect=CacheDialect.GEMINI)),
    ),
    works(
        "Gemini takes none without explicit caching",
        lambda: not marks(long(20_000, *TALK), gemini(enable_explicit_caching=False)),
    ),
    works(
        "Gemini takes none below 16,000 characters",
        lambda: not marks(long(15_999, *TALK), gemini()),
    ),
    works(
        "it takes them from 16,000 on, at the same places",
        lambda: marks(long(16_000, *TALK), gemini()) == [(2, 0), (4, 0)],
    ),
    works(
        "it takes none without a message of the assistant",
        lambda: not marks(long(16_000, "system", "user"), gemini()),
    ),
    works(
        "images are not counted",
        lambda: (
            not marks(
                [
                    *long(15_999, *TALK),
                    {
                        "role": "assistant",
                        "content": [{"type": "image_url", "image_url": {"url": "x" * 99}}],
                    },
                ],
                gemini(),
            )
        ),
    ),
    renamed(
        "the reason is printed",
        lambda: (
            MyDialect().inject_prompt_cache(long(9, "user"), gemini())[0].reason
            == "below-gemini-threshold"
        ),
        "findings.md",
        "too few characters for an explicit Gemini cache",
    ),
    differs(
        "a model is Claude if its name holds 'anthropic'",
        lambda: (
            marks(talk(), data(model="kodu-claude"))
            and not marks(talk(), data(model="my-anthropic-clone/llama"))
        ),
        "cache-lab.md",
        "`my-anthropic-clone/llama` is neither.",
    ),
    differs(
        "an empty text is marked",
        lambda: not marks([{"role": "user", "content": ""}], data()),
        "findings.md",
        "an empty text part may not be marked",
    ),
    # messages
    works(
        "the system prompt comes first, then the history",
        lambda: (
            [m["role"] for m in MyDialect().format_messages(data("a", "b"))]
            == ["system", "user", "assistant"]
        ),
    ),
    works(
        "empty messages are dropped",
        lambda: (
            len(
                own(format_history_item=say({"role": "user", "content": ""})).format_messages(
                    data("a")
                )
            )
            == 1
        ),
    ),
    works(
        "a message with calls alone stays",
        lambda: (
            len(
                own(
                    format_history_item=say(
                        {
                            "role": "assistant",
                            "content": None,
                            "tool_calls": [
                                {
                                    "id": "1",
                                    "type": "function",
                                    "function": {"name": "t", "arguments": "{}"},
                                }
                            ],
                        }
                    )
                ).format_messages(data("a"))
            )
            == 2
        ),
    ),
    works(
        "neighbours of one role are joined",
        lambda: (
            len(
                own(format_history_item=say({"role": "user", "content": "a"})).format_messages(
                    data("a", "b")
                )
            )
            == 2
        ),
    ),
    works(
        "marks come before the environment, which is the last part of the last user message",
        lambda: (
            [
                ("cache_control" in p, p["text"])
                for p in MyDialect().format_messages(
                    data("a", dynamic_environment_details_block="ENV")
                )[-1]["content"]
            ]
            == [(True, "a"), (False, "ENV")]
        ),
    ),
    works(
        "text becomes a list before the environment is added",
        lambda: (
            [
                p["text"]
                for p in MyDialect().format_messages(
                    data("a", model=OTHER, dynamic_environment_details_block="ENV")
                )[-1]["content"]
            ]
            == ["a", "ENV"]
        ),
    ),
    works(
        "without a user message it is not added",
        lambda: (
            "ENV"
            not in str(MyDialect().format_messages(data(dynamic_environment_details_block="ENV")))
        ),
    ),
    works(
        "the rules' path reaches format_dialect_rules",
        lambda: "RULES mine.md" in str(MARKED.format_messages(data("a"), "mine.md")),
    ),
    renamed(
        "too few credits raise AIInsufficientCreditsError",
        lambda: refusal(5, InsufficientCreditsError),
        "own-dialect.md",
        "`InsufficientCreditsError`",
    ),
    renamed(
        "an unknown user raises AIUserNotFoundError",
        lambda: refusal(None, UnknownUserError),
        "own-dialect.md",
        "`UnknownUserError`",
    ),
    renamed(
        "the check is set up by the environment",
        lambda: (
            not checks_from({})
            and checks_from({"PLAYGROUND_CREDIT_LEDGER": "x", "PLAYGROUND_CREDIT_THRESHOLD": "10"})
        ),
        "own-dialect.md",
        "`$PLAYGROUND_CREDIT_LEDGER`",
    ),
    differs(
        "a ledger that fails is no credits",
        lambda: refusal(-1, LedgerError),
        "own-dialect.md",
        "`LedgerError` if the ledger itself fails",
    ),
    differs(
        "a name that holds 'kodu' is checked",
        lambda: checked(None, "openai/my-kodu"),
        "own-dialect.md",
        "Only models of the provider `kodu` are checked.",
    ),
    # the system prompt
    works(
        "without placeholders: rules, tools, agent prompt, system rules, user prompt",
        lambda: order(
            system(data("a", agent="AGENT"), MARKED), "RULES", "DOCS", "AGENT", "SYSTEM", "USER"
        ),
    ),
    *(
        works(
            f"{{{key}}} is filled in at its place, and nowhere else",
            lambda key=key, text=text: (
                (found := system(data("a", agent=f"<{{{key}}}>"), MARKED)).count(text) == 1
                and f"<{text}" in found
            ),
        )
        for key, text in KEYS.items()
    ),
    works(
        "each occurrence is filled in",
        lambda: (
            system(data("a", agent="{AVAILABLE_TOOLS}, {AVAILABLE_TOOLS}"), MARKED).count("DOCS")
            == 2
        ),
    ),
    works(
        "it is one part of text, of the role system",
        lambda: MARKED.format_system_prompt(data(), None).keys() == {"role", "content"},
    ),
    differs(
        "what was filled in is searched for further placeholders",
        lambda: (
            "{USER_PROMPT}"
            in system(
                data("a", agent="{AVAILABLE_TOOLS}"), own(format_tool_docs=say("{USER_PROMPT}"))
            )
        ),
        "own-dialect.md",
        "a placeholder within a text that was filled in stays",
    ),
    differs(
        "an empty part leaves a line break",
        lambda: "\n\n\n" not in system(data("a", agent="A")),
        "own-dialect.md",
        "an empty part of the system prompt leaves no line break",
    ),
    differs(
        "it has Azad's system rules",
        lambda: (
            "nformational" not in MyDialect().format_system_rules(data())
            and MyDialect().format_system_rules(data())
        ),
        "own-dialect.md",
        "the system rules",
    ),
    differs(
        "it has Azad's frame around the user's prompt",
        lambda: (
            "MINE" in (text := MyDialect().format_user_prompt(data(user="MINE")))
            and "custom" not in text
        ),
        "own-dialect.md",
        "the frame around the user's prompt",
    ),
    differs(
        "it has Azad's documentation of tools",
        lambda: (
            "Azad" not in MyDialect().format_tool_docs(data(tools=[TOOL]))
            and MyDialect().format_tool_docs(data()) == ""
        ),
        "own-dialect.md",
        "tool docs (types, and nothing at all without tools)",
    ),
    works("an empty user prompt is no text", lambda: MyDialect().format_user_prompt(data()) == ""),
    works(
        "the agent prompt stands as it is",
        lambda: MyDialect().format_user_agent_prompt(data(agent="AGENT")) == "AGENT",
    ),
    works(
        "tools are documented with name and description",
        lambda: "Tides." in MyDialect().format_tool_docs(data(tools=[TOOL])),
    ),
    works(
        "parameters are called required or optional",
        lambda: order(
            MyDialect().format_tool_docs(data(tools=[TOOL])),
            "required)",
            "its name",
            "optional)",
            "how many",
        ),
    ),
    works(
        "examples have their explanation, in the dialect's form",
        lambda: order(
            MyDialect().format_tool_docs(data(tools=[TOOL])), "Tomorrow", "USE_TOOL: tides"
        ),
    ),
    works(
        "format_history is every message that is not None",
        lambda: len(MyDialect().format_history(data("a", "b"))) == 2,
    ),
    # overriding
    *(
        works(
            f"{method} may be overridden",
            lambda method=method, made=made: (
                "MINE"
                in str(
                    own(**{method: made}).format_messages(
                        data("a", tools=[TOOL], agent="A", user="U")
                    )
                )
            ),
        )
        for method, made in {
            "format_messages": lambda self, prompt_data, rules_path: [
                {"role": "user", "content": "MINE"}
            ],
            "format_system_prompt": lambda self, prompt_data, rules_path: {
                "role": "system",
                "content": "MINE",
            },
            "format_history": lambda self, prompt_data: [{"role": "user", "content": "MINE"}],
            "format_tool_docs": say("MINE"),
            "format_user_prompt": say("MINE"),
            "format_user_agent_prompt": say("MINE"),
        }.items()
    ),
    works(
        "an own inject_prompt_cache, which returns nothing, counts",
        lambda: (
            pg.place_cache(
                pg.sample_sessions()["02-parallel-calls"],
                own(inject_prompt_cache=lambda self, messages, prompt_data: None),
            ).policy
            == "own"
        ),
    ),
]


@each(STATEMENTS)
def test_a_statement_of_azads_document_is_true_here(statement: Statement) -> None:
    confirm(statement)
