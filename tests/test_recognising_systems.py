"""Files of other systems are recognised, with all that they hold, and none of it is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from playground.agents import ResourceType, action, load_declarations
from playground.base.errors import InputFault
from playground.cli import main
from playground.plugins.systems.dspy.signature_source import read_signature
from playground.plugins.systems.flink_agents.agent_source import agents_in
from playground.plugins.systems.flink_agents.views import read_prompts
from playground.questions.recognition import recognise
from playground.sessions.loading import read_sessions
from playground.sessions.source import Source

AGENT = '''
GREETING = "You answer for {port}. "

class Harbour(Agent):
    @prompt
    @staticmethod
    def desk():
        text = GREETING + "Be brief."
        return Prompt.from_text(text, role=MessageRole.USER)

    @prompt
    @staticmethod
    def review():
        system = ChatMessage(role=MessageRole.SYSTEM, content=textwrap.dedent("""
            Be kind."""))
        return Prompt.from_messages([system, ChatMessage(content="{context}")])

    @prompt
    @staticmethod
    def secret():
        return Prompt.from_text(open("/etc/passwd").read())

    @tool
    @staticmethod
    def tides(port: str) -> str:
        """The tides."""
        raise SystemExit

    @chat_model_setup
    @staticmethod
    def model():
        return ResourceDescriptor(clazz="x.Y", prompt="desk")

    @mcp_server
    @staticmethod
    def server():
        return 1

    @action(InputEvent.EVENT_TYPE)
    @staticmethod
    def begin(event, ctx):
        raise SystemExit
'''
SIGNATURE = '''
class Count(dspy.Signature):
    """Count the masts."""

    question: str = dspy.InputField()
    answer: Literal[1, 2] = dspy.OutputField(desc="how many", ge=0)
'''
DECLARED = """
agents:
  - name: harbour
    prompts:
      - name: desk
        text: You answer for {port}.
    actions: []
prompts:
  - name: review
    messages:
      - role: user
        content: "{context}"
tools:
  - name: tides
    function: harbour:tides
"""
REACT = """
class Score(BaseModel):
    score: int

def main():
    env = AgentsExecutionEnvironment.get_execution_environment()
    env.add_resource("tides", ResourceType.TOOL, Tool.from_callable(tides)).add_resource(
        "review", ResourceType.PROMPT, Prompt.from_text("Is {answer} right?")
    )
    desk = Prompt.from_messages(messages=[ChatMessage(role=MessageRole.USER, content="At {port}?")])
    agent = ReActAgent(
        chat_model=ResourceDescriptor(clazz=OllamaSetup, model="qwen3:8b", tools=["tides"]),
        prompt=desk,
        output_schema=Score,
    )
"""
TEMPLATES = """
default:
  - role: system
    content: "You answer for {{ .port }}."
  - role: request
    model: gpt-4o
"""
DIALECT = "class Own(pg.Dialect):\n    def format_system_rules(self, data):\n        return ''\n"
USE_CASES = '''
def answer():
    return textwrap.dedent("""
        7""")

def usecases():
    return ["# Formats", UseCase(
        title="Base", dialogs=[TextCompletionContent(content="The sky")],
    ), UseCase(
        title="Tools",
        dialogs=[[
            RawMessage(role="user", content="What is the 100th decimal of pi?"),
            RawMessage(content="", stop_reason=StopReason.end_of_message, tool_calls=[
                ToolCall("c1", BuiltinTool.wolfram_alpha, arguments={"query": "pi"})
            ]),
            RawMessage(role="tool", content=answer()),
        ]],
    ), UseCase(
        title="Custom", dialogs=[llama3_1_custom_tool_call_dialog(ToolPromptFormat.function_tag)],
    ), UseCase(title="Other", dialogs=[elsewhere()])]
'''


@pytest.mark.parametrize("fence", ["{}", "```python\n{}```\n"])
@pytest.mark.parametrize(
    ("text", "kind", "title", "page"),
    [
        ("a, b: list[str] -> c: int", "signature", "signature: a, b -> c", "signatures"),
        (SIGNATURE, "signature", "DSPy signature Count: question -> answer", "signatures"),
        (
            AGENT,
            "agent",
            "Flink-Agents agent Harbour: 2 prompts, 1 tool, 1 chat model, 1 action",
            "prompts",
        ),
        (
            REACT,
            "agent",
            "Flink-Agents agent ReActAgent: 2 prompts, 1 tool, 1 chat model",
            "prompts",
        ),
        (DECLARED, "agent", "Flink-Agents declarations: 1 agent, 2 prompts, 1 tool", "prompts"),
        (TEMPLATES, "templates", "1 conversation template: default", "formats"),
        (DIALECT, "dialect class", "a dialect written as a class, Own: format_system_rules", ""),
        (USE_CASES, "session", "4 use cases of Llama's prompts: 2 dialogs", "raw"),
    ],
)
def test_a_file_of_another_system_is_recognised(
    fence: str, text: str, kind: str, title: str, page: str
) -> None:
    recognised = recognise(fence.format(text))
    assert (recognised.kind, recognised.title, recognised.page) == (kind, title, page)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I walk a -> b and stay", "reply"),
        ("f(x) -> y", "reply"),
        ("Prompts: none.\nagents: two", "reply"),
        ("- role: user\n  content: Hi\n", "reply"),
        ("def tides(port: str) -> str:\n    return port\n", "tools"),
        ("@tool\ndef tides(port: str) -> str:\n    return port\n", "tools"),
        ('{"prompts": 1}', "reply"),
    ],
)
def test_other_texts_are_what_they_were(text: str, kind: str) -> None:
    assert recognise(text).kind == kind


def test_an_agent_gives_its_prompts_and_names_what_is_not_read() -> None:
    (agent,) = agents_in(AGENT)
    assert {name: each.format_string(port="Brest") for name, each in agent.prompts.items()} == {
        "desk": "You answer for Brest. Be brief.",
        "review": "system: \nBe kind.\nuser: {context}",
    }
    assert agent.prompts["desk"].role == "user"
    assert recognise(AGENT).unread == (
        "Harbour.secret: open('/etc/passwd').read() is computed, and code is not run",
        "Harbour.server: mcp_server is not read",
    )
    assert recognise(AGENT).tools == 1
    assert list(read_prompts(AGENT)) == ["desk", "review"]
    assert list(read_prompts(DECLARED)) == ["review", "desk"]
    assert list(read_prompts("Hi {name}")) == ["prompt"]


def test_a_react_agent_gives_its_prompt_and_those_of_its_environment() -> None:
    (agent,) = agents_in(REACT)
    assert agent.models == ["qwen3:8b"]
    assert agent.tools == ["tides"]
    assert {name: each.format_string(port="Brest") for name, each in agent.prompts.items()} == {
        "prompt": "user: At Brest?",
        "review": "Is {answer} right?",
    }
    assert recognise(REACT).unread == (
        "ReActAgent.output_schema: Score is not read: the agent asks for JSON of that schema",
    )
    (other,) = agents_in(REACT.replace('tools=["tides"]', 'tools=["wind"]'))
    assert other.tools == ["wind", "tides"]  # the environment's are the agent's, too
    elsewhere = REACT.replace("prompt=desk", "prompt=imported_prompt")
    assert "ReActAgent.prompt: imported_prompt is computed, and code is not run" in (
        recognise(elsewhere).unread
    )


def test_a_class_is_read_as_a_signature_with_descriptions_and_bounds() -> None:
    signature = read_signature(SIGNATURE)
    assert signature.instructions == "Count the masts."
    answer = signature.outputs["answer"]
    assert (answer.desc, answer.constraints) == ("how many", "greater than or equal to: 0")
    with pytest.raises(InputFault, match=r"Count\.answer: not a type: Own"):
        read_signature(SIGNATURE.replace("Literal[1, 2]", "Own"))
    with pytest.raises(InputFault, match="arguments that must be computed: "):
        read_signature(SIGNATURE.replace('"how many"', "words()"))


def test_use_cases_become_sessions_with_calls_and_results() -> None:
    recognised = recognise(USE_CASES)
    assert recognised.unread == (
        "use case 'Base': a base model's text, which has no messages",
        "use case 'Other': elsewhere() is not known here; expected "
        "llama3_1_builtin_tool_call_dialog, "
        "llama3_1_builtin_code_interpreter_dialog, llama3_1_custom_tool_call_dialog",
        "1 text: not in the sessions, which have no field for such parts; kept in the JSON of the "
        "rows at 0.left_out",
    )
    loaded = read_sessions(Source(recognised.name, recognised.data))
    first, second = (each.session.messages for each in loaded)
    assert [message.role for message in first] == ["user", "assistant", "tool"]
    assert first[1].tool_calls[0].args == {"query": "pi"}
    assert first[2].tool_results[0].result == "\n7"
    assert second[-1].text == "Use tools to get latest trending songs"


@pytest.mark.parametrize(
    ("dialogs", "problem"),
    [
        ("[_dialog('x', 'y')]", "_dialog() is not known here"),
        ("[[]]", "an empty dialog, which has no messages"),
        ("[]", "no dialogs are written out; expected dialogs=[[RawMessage("),
        ("DIALOGS", "no dialogs are written out; expected dialogs=[[RawMessage("),
    ],
)
@pytest.mark.parametrize("before", ["", "class Port:\n    name: str\n\n\n"])
def test_use_cases_without_a_dialog_say_why(dialogs: str, problem: str, before: str) -> None:
    recognised = recognise(f"{before}UseCase(title='a', dialogs={dialogs})")
    assert (
        recognised.title.partition(", or a reply")[0]
        == "1 use case of Llama's prompts, without a dialog"
    )
    assert recognised.unread[0].startswith(f"use case 'a': {problem}")


def test_a_text_of_a_use_case_that_is_computed_or_no_text_is_named() -> None:
    source = "UseCase(title='a' + x, notes=f(), dialogs=[[RawMessage(role='user', content='b')]])"
    assert [*recognise(source).unread] == [
        "title of a use case: x is computed, and code is not run",
        "notes of a use case: f() is no text",
    ]


def run(folder: Path, name: str, text: str, *arguments: str) -> tuple[int, str]:
    (folder / name).write_text(text)
    command = [*arguments[:-1], str(folder / name), *arguments[-1].split()]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    return result.exit_code, result.output


def test_the_command_line_says_what_a_file_is_and_takes_it(tmp_path: Path) -> None:
    status, told = run(tmp_path, "desk.py", AGENT, "import", "")
    assert status == 2
    assert "Flink-Agents agent Harbour: 2 prompts, 1 tool" in told
    assert "playground template prompt FILE" in told
    status, told = run(tmp_path, "set.yaml", TEMPLATES, "import", "")
    assert (status, "playground template run FILE" in told) == (2, True)
    status, told = run(tmp_path, "cases.py", USE_CASES, "import", "")
    assert status == 0, told
    assert "3 messages, 1 call" in told
    port = """--name desk --values {"port":"Brest"}"""
    status, told = run(tmp_path, "desk.py", AGENT, "template", "prompt", port)
    assert (status, told) == (0, "You answer for Brest. Be brief.")
    assert run(tmp_path, "desk.py", AGENT, "template", "prompt", "--name dusk")[0] == 2


def test_a_dialects_class_is_told_what_it_lacks_and_what_makes_it_a_dialect() -> None:
    found = recognise(DIALECT, "boats/own.py")
    lacking, in_python, entry = found.unread
    assert "pg.compare(session, [Own()])" in in_python
    assert '[project.entry-points."playground.dialects"] own = "own:DIALECT"' in entry
    assert lacking.startswith("Own lacks create_parser, format_dialect_rules, format_example")
    for part in ("DIALECT = Own()", "docs/own-dialect.md"):
        assert part in entry
    heir = recognise(DIALECT.replace("pg.Dialect", "HermesDialect"))
    assert len(heir.unread) == 2  # what its own base has is not known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("question, n: int -> answer", "signature: question, n -> answer"),
        (TEMPLATES, "1 conversation template: default"),
        (DECLARED, "Flink-Agents declarations: "),
        (DIALECT, "a dialect written as a class, Own"),
        ("[[ ## answer ## ]]\n5", "playground replay FILE reads a reply"),
    ],
)
def test_import_says_what_a_text_is_that_holds_no_session(
    text: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "own.txt"
    file.write_text(text)
    for name in (str(file), "-"):
        done = CliRunner().invoke(main, ["import", name], input=text)
        assert done.exit_code == 2
        assert words in done.stderr


PIECES = st.sampled_from([AGENT, REACT, SIGNATURE, DECLARED, TEMPLATES, DIALECT, USE_CASES])


@given(PIECES, st.integers(0, 2000), st.integers(0, 60), st.sampled_from(["", "(", "\0", "{", "@"]))
def test_a_spoiled_file_never_raises(text: str, start: int, length: int, extra: str) -> None:
    spoiled: Any = recognise(text[:start] + extra + text[start + length :])
    json.dumps([spoiled.kind, spoiled.title, spoiled.unread])


HISTORY = [
    {"role": "default-request", "model": "gpt-4o"},
    {"role": "user", "content": "When?"},
    {"role": "assistant", "content": "At 05:12."},
]


def test_declarations_of_a_file_and_its_agents_are_read_alike(tmp_path: Path) -> None:
    """An agent's prompts were refused by `load_declarations`, and not counted by Import."""
    text = DECLARED.replace(
        "    actions: []\n",
        "    actions:\n      - {name: begin, function: 'harbour:begin', listen_to: [input]}\n"
        "    chat_model_setups:\n      - {name: model, clazz: ollama, prompt: desk}\n"
        "    vector_stores:\n      - {name: charts, clazz: chroma}\n",
    )
    found = recognise(text)
    assert found.title == (
        "Flink-Agents declarations: 1 agent, 2 prompts, 1 tool, 1 action, 1 chat model, "
        "1 vector store"
    )
    assert found.unread == (
        "tools: tides: the functions are in another file",
        "agents.harbour.actions: begin: the functions are in another file",
        "agents.harbour.chat_model_setups: model: only the name is read; the prompts are sent to "
        "a model that you choose",
        "agents.harbour.vector_stores: charts: needs Flink-Agents itself",
    )
    (tmp_path / "desk.yaml").write_text(text)
    resources = load_declarations(tmp_path / "desk.yaml")
    assert resources.names(ResourceType.PROMPT) == ["desk", "review"]
    assert [finding.where for finding in resources.findings if finding.code == "part-lost"] == [
        "agents.harbour.actions",
        "agents.harbour.chat_model_setups",
        "agents.harbour.vector_stores",
    ]
    twice = text.replace("name: review", "name: desk")
    (tmp_path / "twice.yaml").write_text(twice)
    names = ["desk", "harbour.desk"]
    assert load_declarations(tmp_path / "twice.yaml").names(ResourceType.PROMPT) == names
    assert sorted(read_prompts(twice)) == names
    (tmp_path / "same.yaml").write_text("prompts: [{name: a, text: b}, {name: a, text: c}]")
    with pytest.raises(InputFault, match="a is declared twice"):
        load_declarations(tmp_path / "same.yaml")


def test_a_history_of_templates_is_no_template() -> None:
    for text in (json.dumps(HISTORY), json.dumps(HISTORY, indent=1)):
        found = recognise(text)
        assert found.title == "history of conversation templates: 3 messages"
        ((key, value),) = found.view
        assert (key, json.loads(value)) == ("brought template history", HISTORY)
    template = recognise(json.dumps({"default": HISTORY[:2]}))
    assert (template.kind, template.title) == ("templates", "1 conversation template: default")
    assert recognise(json.dumps(HISTORY[1:])).kind == "session"


CHAT_ONLY = """
class Desk(Agent):
    @chat_model
    @staticmethod
    def model():
        system = ChatMessage(role=MessageRole.SYSTEM, content="At {port}.")
        prompt = Prompt.from_messages([system])
        return OllamaChatModel, {"model": "qwen2.5:7b", "prompt": prompt}
"""


@pytest.mark.parametrize(
    "returned",
    [
        'OllamaChatModel, {"model": "qwen2.5:7b", "prompt": prompt}',
        "ResourceDescriptor(clazz=OllamaChatModel, prompt=prompt)",
    ],
)
def test_the_prompt_of_a_chat_model_is_one_of_its_agents(returned: str) -> None:
    source = CHAT_ONLY.replace(CHAT_ONLY[CHAT_ONLY.index("Ollama") :], f"{returned}\n")
    found = recognise(source)
    assert (found.title, found.page) == (
        "Flink-Agents agent Desk: 1 prompt, 1 chat model",
        "prompts",
    )
    assert read_prompts(source)["model"].format_string(port="Brest") == "system: At Brest."
    bare = CHAT_ONLY.replace('"prompt": prompt', '"prompt": "desk"')
    assert recognise(bare).page == ""
    assert "the file holds no prompt" in recognise(bare).unread[0]
    with pytest.raises(InputFault, match="the agent Desk declares no prompt"):
        read_prompts(bare)


def test_prompts_of_one_name_in_two_agents_are_both_read() -> None:
    assert list(read_prompts(AGENT + AGENT.replace("Harbour", "Pier"))) == [
        *("desk", "review"),
        *("Pier.desk", "Pier.review"),
    ]


BROKEN = [
    (AGENT.replace("def review()", "def review("), "a Flink-Agents agent", "line 13", ".py"),
    (SIGNATURE.replace("InputField()", "InputField("), "a DSPy signature", "line 5", ".py"),
    (DIALECT.replace("(self, data)", "(self"), "a dialect written as a class", "line 2", ".py"),
    (TEMPLATES + '  - {role: user, content: "', "conversation templates", ":7", ".yaml"),
    (TEMPLATES + TEMPLATES, "conversation templates", "'default' occurs twice", ".yaml"),
    (TEMPLATES.replace("role: system", "rolle: system"), "conversation templates", "0", ".yaml"),
    (
        "default:\n- role: user\n  content: "
        "[{type: image_url, image_url: {url: a, detail: extreme}}]",
        *("conversation templates", "content.0.detail", ".yaml"),
    ),
    (DECLARED + "  - {name: desk", "Flink-Agents declarations", ":", ".yaml"),
]


@pytest.mark.parametrize(("text", "what", "place", "suffix"), BROKEN)
def test_material_with_a_mistake_is_told_what_it_looks_like_and_where_it_fails(
    text: str, what: str, place: str, suffix: str, tmp_path: Path
) -> None:
    """Each was "a reply, in which no dialect reads a call", or a reply with a call."""
    title = f"{what} that cannot be read"
    named = recognise(text, f"own{suffix}")
    assert (named.kind, named.title) == ("nothing", title)
    assert place in named.unread[0]
    pasted = recognise(text)  # a model may have written it
    assert pasted.kind == "reply"
    assert pasted.title.startswith(f"{title}, or a reply")
    status, told = run(tmp_path, f"own{suffix}", text, "import", "")
    assert (status, title in told, place in told) == (2, True, True)


@pytest.mark.parametrize("text", [each[0] for each in BROKEN if "agent" in each[1].lower()])
def test_broken_source_is_no_prompt(text: str) -> None:
    """It was filled as the prompt's text, by the page and by `template prompt`."""
    with pytest.raises(InputFault, match=r"(line \d+|pasted:\d+): "):
        read_prompts(text)
    assert list(read_prompts("Explain: class A(Agent):\n  @prompt (")) == ["prompt"]
    with pytest.raises(InputFault, match="Python without an agent's prompt"):
        read_prompts(SIGNATURE)


def test_signature_takes_a_class_from_a_file_or_a_text(tmp_path: Path) -> None:
    status, told = run(tmp_path, "count.py", SIGNATURE, "signature", "-i question=How?")
    assert status == 0, told
    assert "`answer` (Literal[1, 2]): how many" in told
    asked = CliRunner().invoke(main, ["signature", "-"], input=SIGNATURE)
    given = CliRunner().invoke(main, ["signature", SIGNATURE, "--instructions", "Look up."])
    assert "Count the masts." in asked.output
    assert "Look up." in given.output
    status, told = run(tmp_path, "count.py", BROKEN[1][0], "signature", "")
    assert (status, "count.py:5: not Python: " in told and "(column " in told) == (2, True)
    status, told = run(tmp_path, "count.py", SIGNATURE, "import", "")
    assert "playground signature FILE" in told


DESCRIBED = USE_CASES.replace(
    'title="Tools",',
    'title="Tools", description="Tools are called, one by one.", notes="- A note",',
)


@pytest.mark.parametrize("name", ["cases.py", "cases.txt", "-"])
def test_use_cases_are_sessions_of_every_command_and_a_receipt_says_what_is_dropped(
    name: str, tmp_path: Path
) -> None:
    """Only `import FILE.py` took them, and told that nothing was missing."""
    (tmp_path / "cases.py").write_text(DESCRIBED)
    (tmp_path / "cases.txt").write_text(DESCRIBED)
    file = name if name == "-" else str(tmp_path / name)
    for command, words in (
        (("import",), "Tools: openai-lines, 3 messages, 1 call"),
        (("import",), "1 text, 1 description, 1 note: not in the sessions, which"),
        (("raw", "--llama", "3"), "<|start_header_id|>"),
        (("render", "-d", "xml"), "What is the 100th decimal of pi?"),
    ):
        first, *options = command
        done = CliRunner().invoke(main, [first, file, *options], input=DESCRIBED)
        assert words in done.output, (command, done.output)
    if name != "-":
        told = CliRunner().invoke(main, ["import", file, "--receipt"]).output
        assert "finding: part-lost" in told
        assert "without a finding" not in told
        assert "100 %" not in told
    first_title, _ = (
        each.session.title for each in read_sessions(Source(name, DESCRIBED.encode()))
    )
    assert first_title == "Tools"


def test_an_action_that_listens_to_the_name_of_a_class_is_refused() -> None:
    """It waited for an event of that type, and never ran."""
    with pytest.raises(InputFault, match=r"'InputEvent' is the name of a class; .*_input_event"):
        action("InputEvent")
    assert callable(action("_input_event", "own_event"))
