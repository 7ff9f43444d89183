"""The five documents that this project imitates: every example in them runs as it is written.

Only names of imports are ours, and where a text is no Python at all, the words that make it so. No
text of the documents is here: examples are taken out of them, and the tests say what must follow.
"""

from __future__ import annotations

import inspect
import itertools
import json
import re
import sys
import textwrap
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import pytest
from pydantic import BaseModel, SecretStr
from seed_documents import (
    class_in,
    fenced,
    methods,
    needs_seeds,
    signatures,
    statements,
    text_of,
    yaml_examples,
)

import playground as pg
from playground import agents, conversations
from playground.agents import LocalRunner, MessageRole, Prompt, ResourceType
from playground.base.errors import InsufficientCreditsError, UnknownUserError
from playground.conversations import Answers, parse_templates
from playground.dialects import Dialect
from playground.dialects.preflight import CreditCheck, JsonLedger
from playground.dialects.raw_prompts import LLAMA3, LlamaTurn
from playground.dialects.reading import parse
from playground.lab.guides import Guide, guide_for
from playground.nouns.events import Span, TextEvent
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import (
    CacheDialect,
    DynamicTaskConfig,
    PromptData,
    PromptTemplateType,
    TaskConfig,
)
from playground.nouns.tools import ParameterMetadata, ToolExample, ToolMetadata
from playground.parsing.parser import DialectParser
from playground.signatures import ChatAdapter, History, Signature

pytestmark = needs_seeds
LATE: Final = sys.modules["__future__"].annotations.compiler_flag


def run(code: str, names: dict[str, Any], annotations: bool = True) -> dict[str, Any]:
    """Run code with these names, and return them with what it defines.

    Without `annotations` none is looked up: some name classes that exist only there.
    """
    flags = 0 if annotations else LATE
    scope = {"__name__": __name__, **names}
    exec(compile(code, "a seed's example", "exec", flags, dont_inherit=True), scope)
    return scope


# 000: the base dialect

ABSTRACT: Final = {
    "format_dialect_rules", "format_example", "format_tool_call", "format_tool_result",
    "format_history_item", "create_parser", "is_native_toolcalling",
}  # fmt: skip
OWN_TEXTS: Final = (  # of ours, on purpose: docs/own-dialect.md
    "format_system_rules", "format_user_prompt", "format_tool_docs", "format_system_prompt",
)  # fmt: skip


class MyDialectParser(DialectParser):
    def __init__(self, config: Any) -> None:
        self.config, self.offset = config, 0

    def feed(self, data: bytes) -> list[Any]:
        text = data.decode()
        self.offset += len(text)
        return [TextEvent(Span(self.offset - len(text), self.offset), text)]


def azads_names() -> dict[str, Any]:
    return {
        "Dialect": Dialect,
        "PromptTemplateType": PromptTemplateType,
        "ParameterMetadata": ParameterMetadata,
        "CacheDialect": CacheDialect,
        "inspect": inspect,
        "__package__": "azad.prompts",
        "print": lambda *_: None,
        "two": "\n\n",
    }


def azads_class(name: str, base: str, sources: dict[str, str], names: dict[str, Any]) -> Any:
    body = textwrap.indent("\n".join(sources.values()), " " * 4)
    # a backslash within braces needs Python 3.12
    code = f"class {name}({base}):\n{body}".replace('"\\n\\n".join(docs)', "two.join(docs)")
    return run(code, names, annotations=False)[name]


def requests() -> list[PromptData]:
    """Conversations with and without each thing that the document's methods look at."""
    marks = [(m, c, e) for m in MODELS for c in (None, *CacheDialect) for e in (False, True)]
    frames = itertools.cycle(itertools.product(AGENT_PROMPTS, ("", "Be kind."), ("", "It rains.")))
    found = []
    for session in pg.sample_sessions().values():
        for model, cache, explicit in marks:
            agent, user, environment = next(frames)
            data = session.prompt_data()
            data.task_config = TaskConfig(
                model_name=model, user_agent_prompt=agent, user_prompt=user
            )
            data.dynamic_task_config = DynamicTaskConfig(
                cache_dialect=cache,
                enable_explicit_caching=explicit,
                dynamic_environment_details_block=environment,
            )
            found.append(data)
    return found


MODELS: Final = ("anthropic/claude-3", "gemini/gemini-2.5-pro", "gpt-4o")
AGENT_PROMPTS: Final = (
    "",
    "You keep the harbour.",
    "{AVAILABLE_TOOLS} then {USER_PROMPT}",
    "{SYSTEM_INSTRUCTION}\n{TOOL_USE_INSTRUCTION} and {TOOL_USE_INSTRUCTION}",
)


def item(self: Any, item: Message) -> dict[str, Any] | None:
    """The part that the document leaves out: a message's texts, calls and results."""
    calls = [self.format_tool_call(call) for call in item.tool_calls]
    results = [self.format_tool_result(result) for result in item.tool_results]
    text = "\n".join(filter(None, [item.text, *calls, *results]))
    return {"role": "user" if item.role == "tool" else item.role, "content": text}


def test_the_base_dialects_example_and_methods_run_as_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    document = text_of(0)
    own = methods(document)
    parser: Any = ModuleType("azad.prompts.parser")
    parser.MyDialectParser = MyDialectParser
    for module in (ModuleType("azad"), ModuleType("azad.prompts"), parser):
        monkeypatch.setitem(sys.modules, module.__name__, module)

    # what it says of methods
    assert set(own) - {"override_messages", "feed", "feed_tool_call_delta"} <= set(dir(Dialect))
    assert Dialect.__abstractmethods__ == ABSTRACT
    assert all("abstractmethod" in own[name] for name in ABSTRACT)
    assert {"feed", "feed_tool_call_delta"} <= set(dir(DialectParser))
    assert DialectParser.__abstractmethods__ == {"feed"}

    # its own dialect
    start, stop = document.index("class MyDialect"), document.index("When working with the Base")
    names = azads_names()
    names |= run(class_in(document[start:stop], "MyDialect"), names, annotations=False)
    names["MyDialect"] = type("MyDialect", (names["MyDialect"],), {"format_history_item": item})
    mine = names["MyDialect"]()
    data = pg.sample_sessions()["02-parallel-calls"].prompt_data()
    assert "USE_TOOL: tool_name" in mine.format_dialect_rules(data)
    written = "USE_TOOL: tides\nPORT: Brest\nDAYS: 2\nEND_TOOL"
    assert mine.format_example("tides", {"port": "Brest", "days": 2}) == written
    assert (
        mine.format_tool_call(ToolCallPart("1", "tides", {"port": "Brest", "days": 2})) == written
    )
    result = ToolResultPart("1", "tides", "05:12")
    assert mine.format_tool_result(result) == "TOOL_RESULT: tides\n05:12\nEND_RESULT"
    assert mine.is_native_toolcalling() is False
    assert mine.create_parser(data).config is mine.config
    assert pg.parse("Hello", mine).content == "Hello"

    # the methods that it shows, in a class, beside ours
    concrete = {name: code for name, code in own.items() if "abstractmethod" not in code}
    copied = concrete.pop("override_messages")
    concrete.pop("feed_tool_call_delta")
    theirs = azads_class("Theirs", "MyDialect", concrete, names)()
    ours = azads_class("Ours", "MyDialect", {name: own[name] for name in OWN_TEXTS}, names)()
    for each in requests():
        expected = theirs.format_messages(each, None)
        assert ours.format_messages(each) == expected
        assert theirs.render(each).messages == expected
    tool = ToolMetadata(
        name="tides",
        description="Tides.",
        parameters={"port": ParameterMetadata(description="its name"), "days": "n"},
        required_parameters=["port"],
        examples=[ToolExample(explanation="Soon", parameters={"port": "Brest"})],
    )
    assert theirs.format_tools_schema([tool]) == mine.format_tools_schema([tool])
    docs = theirs.format_tool_docs(PromptData(tool_metadata=[tool]))
    assert "- port: (required) its name- days: (optional) n" in docs
    assert "### Soon\n> Azad Output :\nUSE_TOOL: tides\nPORT: Brest\nEND_TOOL\n" in docs
    messages = [*data.messages]
    run(copied, {}, annotations=False)["override_messages"](data, messages)
    assert data.messages == messages
    assert data.messages is not messages


class Settings(SimpleNamespace):
    FLY_PROCESS_GROUP = DATABASE_URL = TURSO_AUTH_TOKEN = "set"
    CREDIT_THRESHOLD = 10


@pytest.mark.parametrize("credits", [None, 5, 10])
def test_the_check_of_credits_ends_as_in_the_document(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, credits: int | None
) -> None:
    """Their error for too few credits, or for no user, is ours; the check is one of a dialect."""
    own = methods(text_of(0))
    package = {name: ModuleType(name) for name in ("azad", "azad.prompts")}
    modules: Any = {
        **package,
        "azad.env_settings": SimpleNamespace(settings=Settings()),
        "azad.ainetwork": ModuleType("azad.ainetwork"),
        "azad.ainetwork.errors": SimpleNamespace(
            AIInsufficientCreditsError=lambda: InsufficientCreditsError(5, 10),
            AIUserNotFoundError=UnknownUserError,
        ),
        "azad.db_models": SimpleNamespace(db=SimpleNamespace(get_user_credits=lambda _: credits)),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    names = {**azads_names(), "MyDialect": type(pg.get_dialect("xml"))}
    theirs = azads_class("Theirs", "Dialect", {"m": own["format_messages"]}, names)
    ledger = tmp_path / "credits.json"
    ledger.write_text(json.dumps({} if credits is None else {"key": credits}))
    checked = pg.get_dialect("xml").with_preflight(CreditCheck(JsonLedger(ledger), threshold=10))
    data = PromptData(
        messages=[Message("user", (TextPart("Hi"),))],
        task_config=TaskConfig(model_name="kodu/claude"),
        dynamic_task_config=DynamicTaskConfig(model_api_key=SecretStr("key")),
    )
    complete: Any = type(
        "Complete",
        (theirs,),
        {**dict.fromkeys(ABSTRACT, lambda *_: ""), "format_history_item": lambda *_: None},
    )
    expected = {None: "UnknownUserError", 5: "InsufficientCreditsError", 10: "list"}[credits]
    assert outcome(complete(), data) == outcome(checked, data) == expected


def outcome(dialect: Dialect, data: PromptData) -> str:
    try:
        return type(dialect.format_messages(data, None)).__name__
    except (UnknownUserError, InsufficientCreditsError) as error:
        return type(error).__name__


# 001: Llama's prompt formats


def metas_cases() -> list[Any]:
    """Return the use cases of Meta's file: its imports are ours, its functions have one block."""
    code = text_of(1)
    code = code[code.index("import textwrap") :]
    code = code.replace("llama_stack.models.llama.datatypes", "playground.lab.guides")
    code = code.replace("..prompt_format", "playground.lab.guides")
    blocks = (f"    {s}" if s.startswith("return ") else s for s in statements(code))
    found: list[Any] = run("\n".join(blocks), {})["usecases"]()
    return found


def test_metas_use_cases_are_a_guide_as_written() -> None:
    cases = metas_cases()
    shown = guide_for("llama3-json")
    assert isinstance(shown, Guide)
    guide = Guide(shown.dialect, cases)
    texts, own = [case for case in cases if isinstance(case, str)], guide.use_cases
    assert (len(texts), len(own)) == (7, 7)
    page = guide.markdown()
    for text in texts:
        assert text.strip() in page
    for case in own:
        assert f"{case.title}\n" in page
        assert all(f"- {note}" in page for note in case.notes)

    # the special tokens and the roles that it lists
    listed = set(re.findall(r"<\|\w+\|>", texts[0]))
    assert listed <= set(LLAMA3.tokens)
    roles = re.findall(r"^- `(\w+)`:", texts[1], re.M)
    assert sorted(roles) == ["assistant", "system", "tool", "user"]
    assert all(LLAMA3.render([LlamaTurn(role, "x")]) for role in roles)
    assert "<|start_header_id|>ipython<|end_header_id|>" in LLAMA3.render([LlamaTurn("tool", "x")])

    # each prompt, and what its notes say
    talk, builtin, code, full, custom, tagged = (guide.prompt(*pair) for pair in guide.dialogs())
    completion: Any = own[0].dialogs[0]
    base = guide.prompt(own[0], completion)
    assert base.startswith("<|begin_of_text|>Color") and "header_id" not in base
    for prompt in (talk, builtin, code, full, custom, tagged):
        assert prompt.startswith("<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n")
        assert prompt.endswith("<|start_header_id|>assistant<|end_header_id|>\n\n")
    assert "Environment: ipython\nTools: brave_search, wolfram_alpha\n" in builtin
    assert "system<|end_header_id|>\n\nEnvironment: ipython<|eot_id|>" in code
    assert "code_interpreter" not in code
    called = 'wolfram_alpha.call(query="100th decimal of pi")<|eom_id|>'
    assert f"{called}<|start_header_id|>ipython<|end_header_id|>\n\n" in full
    assert '"plaintext": "100th digit | \u03c0"' in full
    for prompt in (custom, tagged):  # the tools are told of in a message of the user
        _, user, *_ = prompt.split("<|start_header_id|>user<|end_header_id|>")
        assert "trending_songs" in user and "description" in user
    assert "<function=" in tagged

    # the replies that the notes describe, by their readers
    search = parse('<|python_tag|>brave_search.call(query="gold")<|eom_id|>', "llama3-builtin")
    assert [(c.name, c.arguments) for c in search.tool_calls] == [
        ("brave_search", {"query": "gold"})
    ]
    (ran,) = parse("<|python_tag|>print(7)<|eom_id|>", "llama3-code").tool_calls
    assert ran.arguments == {"code": "print(7)"}
    waiting = '<|python_tag|>{"name": "trending_songs", "parameters": {"n": 3}}<|eom_id|>'
    ended = '<function=trending_songs>{"n": 3}</function><|eot_id|>'
    for reply, dialect in ((waiting, "llama3-json"), (ended, "llama3-function")):
        (call,) = parse(reply, dialect).tool_calls
        assert (call.name, call.arguments) == ("trending_songs", {"n": 3})
    answered = parse("It is prime.<|eot_id|>", "llama3-code")
    assert (answered.content, answered.tool_calls) == ("It is prime.", [])


# 002: DSPy's ChatAdapter


def test_the_chat_adapters_methods_have_the_documents_arguments_and_message_order() -> None:
    document = text_of(2)
    for line in signatures(document):
        name, arguments = line.removeprefix("dspy.").split("(", 1)
        declared = run(f"def f({arguments.split(' -> ')[0]}: ...", {}, annotations=False)["f"]
        method = ChatAdapter if name == "ChatAdapter" else getattr(ChatAdapter, name)
        ours = {p.name: p.default for p in inspect.signature(method).parameters.values()}
        theirs = {p.name: p.default for p in inspect.signature(declared).parameters.values()}
        assert ours | theirs == ours, name
        assert [n for n in ours if n in theirs] == [*theirs], name

    signature = Signature.parse("question, history: History -> reasoning, answer: int")
    demos = [{"question": f"demo {n}", "reasoning": "r", "answer": n} for n in (1, 2)]
    turns = [{"question": f"turn {n}", "reasoning": "r", "answer": n} for n in (3, 4)]
    inputs = {"question": "now", "history": History(messages=turns)}
    adapter = ChatAdapter()
    messages = adapter.format(signature, demos, inputs)

    # the structure that it recommends, with its own words as values
    recommended = re.findall(r'\{"role": "(\w+)", "content": (\w+)\}', document)
    assert [message["role"] for message in messages] == [role for role, _ in recommended]
    contents = [message["content"] for message in messages]
    words = ["", "demo 1", "1", "demo 2", "2", "turn 3", "3", "turn 4", "4", "now"]
    assert all(word in content for word, content in zip(words, contents, strict=True))
    system = contents[0]
    assert "`question` (str)" in system and "`answer` (int)" in system  # field description
    assert "[[ ## question ## ]]\n{question}" in system  # field structure
    assert "your objective is:" in system  # task description
    marker, completed = "[[ ## answer ## ]]", "[[ ## completed ## ]]"
    assert {"[[ ## field_name ## ]]", completed} <= set(
        re.findall(r"\[\[ ## \w+ ## \]\]", document)
    )
    structure = adapter.format_field_structure(signature)
    assert structure.index(marker) < structure.index(completed)
    assert completed in contents[2]
    reminder = adapter.user_message_output_requirements(signature)
    assert len(reminder) < len(structure)
    assert marker in reminder and reminder in contents[-1]

    # what it says of the others
    finetune = adapter.format_finetune_data(
        signature, demos, inputs, {"reasoning": "r", "answer": 5}
    )
    assert finetune["messages"][:-1] == messages
    assert finetune["messages"][-1]["role"] == "assistant"
    fields = {"question": "a", "answer": 2}
    assert adapter.format_field_with_value(fields) == (
        "[[ ## question ## ]]\na\n\n[[ ## answer ## ]]\n2"
    )
    reply = f"[[ ## reasoning ## ]]\nso\n\n{marker}\n5\n\n{completed}"
    assert adapter.parse(signature, reply) == {"reasoning": "so", "answer": 5}

    class Model:
        def __call__(self, *, messages: Any, **parameters: Any) -> list[str]:
            assert parameters == {"temperature": 0}
            return [reply]

    asked = adapter(Model(), {"temperature": 0}, signature, demos, inputs)
    assert asked == [{"reasoning": "so", "answer": 5}]


# 003: conversation templates

FILLED: Final = {  # the values that the document leaves open, by parameter
    "model": "gpt-4o", "max_tokens": "9", "temperature": "0.1", "top_p": "0.5", "stop": "[END]",
    "presence_penalty": "0.2", "frequency_penalty": "0.3", "logit_bias": "{'1': 2}",
    "functions": "[function_name]", "call_function": "'*'",
}  # fmt: skip


def test_the_templates_of_the_reference_run_as_written() -> None:
    call, image, request, truncate = yaml_examples(text_of(3))
    for name, value in FILLED.items():
        request = request.replace(f"  {name}: ...", f"  {name}: {value}")
    assert "..." not in request
    result = "- role: function\n  name: function_name\n  content: it is {{.weather}}\n"
    templates = parse_templates(call + truncate + image + call + result + request)
    function = ToolMetadata(name="function_name", description="A function.")
    found = conversations.run(templates, {"weather": "calm"}, Answers(["done"]), tools=[function])
    (sent,) = found.requests
    body = sent.body()
    assert {k: body[k] for k in ("model", "max_tokens", "stop", "logit_bias", "function_call")} == {
        "model": "gpt-4o",
        "max_tokens": 9,
        "stop": ["END"],
        "logit_bias": {"1": 2},
        "function_call": "auto",
    }
    assert [each["name"] for each in body["functions"]] == ["function_name"]
    user, assistant, answered = body["messages"]
    assert [part["type"] for part in user["content"]] == ["text", "image_url"]
    assert user["content"][1]["image_url"]["detail"] == "high"
    assert assistant["function_call"]["name"] == "function_name"
    assert (answered["name"], answered["content"]) == ("function_name", "it is calm")
    assert [message["role"] for message in found.history] == [
        "assistant", "truncate", "user", "assistant", "function",
        "default-request", "request", "assistant",
    ]  # fmt: skip
    assert json.loads(json.dumps(found.history)) == found.history


# 004: prompt, tool and chat model of Flink-Agents


def flinks_names() -> dict[str, Any]:
    import abc
    import collections.abc
    import typing

    names = {**vars(typing), **vars(abc), **vars(collections.abc), "typing": typing}
    names |= {name: getattr(agents, name) for name in dir(agents) if name[0] != "_"}
    return {**names, "BaseModel": BaseModel, "override": lambda method: method}


class Client:
    """A server of models: it repeats the last message, with the host and the tools it got."""

    def __init__(self, host: str) -> None:
        self.chat = SimpleNamespace(completions=self)
        self.host = host

    def create(self, model: str, messages: list[str], tools: Any) -> str:
        return f"{self.host} {model} {tools}: {messages[-1]}"


PRIVATE: Final = """
    def __convert_messages_to_input(self, messages):
        return [message.content for message in messages]
    def __convert_response_to_message(self, response):
        return ChatMessage(role=MessageRole.ASSISTANT, content=response)
    def __convert_tools(self, tools):
        return [tool.metadata.name for tool in tools]
"""


def test_the_design_of_flink_agents_runs_as_written() -> None:
    names, blocks = flinks_names(), fenced(text_of(4), "python")
    assert len(blocks) == 20

    # prompts: each example beside what its comment says
    for example in blocks[:2]:
        prompt = run(example, names)["prompt"]
        (message,) = run(f"found = {blocks[3]}", {**names, "prompt": prompt})["found"]
        assert message.content.rstrip(".") == "This is a prompt"
        text = run(f"found = {blocks[2]}", {**names, "prompt": prompt})["found"]
        assert text.rstrip(".").endswith("This is a prompt")
    about = run(blocks[4], names)["prompt"]
    filled = run(f"found = {blocks[5]}", {**names, "prompt": about})["found"]
    assert filled.endswith("This is a prompt about Animal.")
    assert about.format_messages(topic="Animal")[0].content == "This is a prompt about Animal."

    # interfaces: as classes on our resources, and ours have their members
    for number, ours in (
        (6, Prompt),
        (7, agents.BaseTool),
        (8, agents.ToolMetadata),
        (10, agents.BaseChatModel),
    ):
        code = blocks[number].replace(": Dict=None", ": Dict")  # no Python: ** has no default
        declared = run(code, names)[ours.__name__]
        members = {name for name in vars(declared) if not name.startswith(("_", "model_"))}
        assert {*members} <= {*dir(ours), *getattr(ours, "model_fields", ()), "annotations"}, ours

    # the schema of a function
    code, printed = blocks[9].split("print(", 1)
    schema = run(code, names)["args_schema"].model_json_schema()
    assert schema == json.loads(printed.split("\n", 1)[1])

    # messages, as the document has them in JSON (there without two commas, and with Python's True)
    calling, partial = (
        json.loads(re.sub(r'\]\s*"', '], "', block).replace("True", "true"))
        for block in fenced(text_of(4), "json")
    )
    message = agents.ChatMessage.model_validate(calling)
    assert message.tool_calls[0]["function"]["arguments"] == {"a": 1, "b": 2}
    assert agents.ChatMessage.model_validate(partial).extra_args == {"partial": True}

    # a chat model of one's own: three parts of one class
    parts = [blocks[11], *(textwrap.indent(block, " " * 4) for block in blocks[12:14]), PRIVATE]
    names |= run("".join(parts), {**names, "Client": Client})
    model = names["OllamaChatModel"](host="8.8.8.8", model="m", prompt=about)
    asked = agents.ChatMessage(content="?", extra_args={"topic": "Animal"})
    assert model.chat([asked]).content == "8.8.8.8 m None: This is a prompt about Animal."

    # an agent with each resource, declared in two ways, and its actions
    action = f"class MyAgent(MyAgent):\n{textwrap.indent(blocks[18], ' ' * 4)}"
    declared = [blocks[14], blocks[15].replace("int: a, int: b", "a: int, b: int"), MAIL]
    values = {"name": "rope", "description": "long", "detail": "good", "context": "wet"}
    for number, said in ((16, "wet"), (17, "The product is rope, long.")):
        scope = {**names, "Client": Client, "MyAgent": agents.Agent}
        for part in (*declared, blocks[number], action):
            scope = run(part.replace("MyAgent(Agent)", "MyAgent(MyAgent)"), scope)
        runner = LocalRunner(scope["MyAgent"]())
        runner.run(value="rope")
        assert [type(event).__name__ for event in runner.events] == ["InputEvent"]
        context = runner.context(1)
        chat = context.get_resource("ollama", ResourceType.CHAT_MODEL)
        answer = chat.chat([agents.ChatMessage(content="?", extra_args=values)])
        assert answer.content.startswith(f"8.8.8.8 qwen2.5:7b ['send_email']: {said}")
        assert context.get_resource("add", ResourceType.TOOL).call(a=1, b=2) == 3

    # its two built-in actions, in place of ours
    scope |= run(blocks[19], scope)
    agent = scope["MyAgent"]()
    agent.add_action("chat", [agents.ChatRequestEvent], scope["process_chat_event"])
    agent.add_action("call", [agents.ToolRequestEvent], scope["process_tool_request"])
    add = {
        "id": "1",
        "type": "function",
        "function": {"name": "add", "arguments": {"a": 1, "b": 2}},
    }
    script = agents.ScriptedModel(
        [agents.ChatMessage(role=MessageRole.ASSISTANT, content="let me", tool_calls=[add])]
    )
    runner = LocalRunner(agent, models={"ollama": script}, built_in_actions=())
    asked_event = agents.ChatRequestEvent("ollama", [agents.ChatMessage(content="1 + 2?")])
    context = runner.context(1)
    scope["process_chat_event"](asked_event, context)
    events: Any = context.events
    request, response = events
    assert (request.name, request.kwargs) == ("add", {"a": 1, "b": 2})
    assert (response.request, response.response.content) == (asked_event, "let me")
    scope["process_tool_request"](request, context)
    assert (events[-1].request, events[-1].response) == (request, 3)


MAIL: Final = """class MyAgent(MyAgent):
    @tool
    @staticmethod
    def send_email(): ...
"""
