"""Dialects written by hand, as Azad's own documentation writes one, and those of other packages."""

# mypy: disable-error-code="no-untyped-def, override, no-untyped-call, call-arg, misc"
# The seed's own code has no types, and leaves arguments out: that is what is tried here.

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import SecretStr
from streamlit.testing.v1 import AppTest

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault, LedgerError, UnknownUserError
from playground.cli import main
from playground.dialects import Dialect
from playground.dialects.by_hand.plugins import fault_of
from playground.dialects.preflight import CreditCheck, checks_from
from playground.nouns.events import Event, Span, TextEvent
from playground.nouns.messages import Message, TextPart
from playground.nouns.prompt_data import DynamicTaskConfig, PromptData, TaskConfig
from playground.parsing.parser import DialectParser


class OnlyFeed(DialectParser):
    """The seed's parser has one abstract method."""

    def __init__(self) -> None:
        self.offset = 0

    def feed(self, data: bytes) -> list[Event]:
        text = data.decode()  # fails on what is no UTF-8, as one written by hand may
        self.offset += len(text)
        return [TextEvent(Span(self.offset - len(text), self.offset), text)]


class MyDialect(Dialect):
    """The seed's own example, by its abstract methods to the letter."""

    def format_dialect_rules(self, prompt_data, rules_file_name):
        return f"# My Dialect Rules ({rules_file_name})\nUSE_TOOL: tool_name\nEND_TOOL\n"

    def format_example(self, tool_name, parameters):
        params = "\n".join([f"{k.upper()}: {v}" for k, v in parameters.items()])
        return f"USE_TOOL: {tool_name}\n{params}\nEND_TOOL"

    def format_tool_call(self, call):
        return self.format_example(call.tool_name, call.args)

    def format_tool_result(self, tool_result):
        return f"TOOL_RESULT: {tool_result.tool_name}\n{tool_result.result}\nEND_RESULT"

    def format_history_item(self, item):
        return {"role": "user" if item.role == "tool" else item.role, "content": item.text or "-"}

    def create_parser(self, prompt_data):
        return OnlyFeed()

    def is_native_toolcalling(self):
        return False


def sample() -> pg.Session:
    return pg.sample_sessions()["02-parallel-calls"]


# the seed's signatures


def test_the_seeds_own_dialect_renders_parses_and_is_compared() -> None:
    dialect = MyDialect()
    session = sample()
    system = dialect.format_messages(session.prompt_data())[0]["content"][0]["text"]
    assert system.startswith("# My Dialect Rules (None)\nUSE_TOOL: tool_name\nEND_TOOL\n")
    assert pg.parse("Hello", dialect, session.tools).content == "Hello"
    column = pg.compare(session, ["hermes", dialect]).column("my-dialect")
    assert column.rendering.messages[-1]["role"] == "user"
    assert {finding.code for finding in column.findings} == {"cannot-carry"}
    assert pg.place_cache(session, dialect).dialect == "my-dialect"


def test_the_rules_path_reaches_a_dialect_that_takes_it() -> None:
    data = PromptData()
    assert MyDialect().format_dialect_rules(data).startswith("# My Dialect Rules (None)")
    messages = MyDialect().format_messages(data, "theirs.md")
    assert messages[0]["content"][0]["text"].startswith("# My Dialect Rules (theirs.md)")


def test_arguments_that_are_taken_are_given_whatever_their_order() -> None:
    class Taking(MyDialect):
        def format_tool_call(self, the_call, *, tools=()):
            return f"{the_call.tool_name} {len(tools)}"

        def create_parser(self, prompt_data, switches=None, **more):
            assert switches is None
            assert more == {"prefill": "<think>"}
            return OnlyFeed()

    data = sample().prompt_data()
    call = next(message.tool_calls[0] for message in data.messages if message.tool_calls)
    assert Taking().format_tool_call(call, data.tool_metadata) == f"{call.tool_name} 2"
    assert Taking().name == "taking"
    assert pg.parse("x", Taking(), prefill="<think>").content == "x"


def test_carry_says_of_a_dialect_by_hand_what_fails_instead_of_raising() -> None:
    matrix = pg.carry([MyDialect()])
    assert matrix.carried("my-dialect") == []
    (found,) = matrix.cells["my-dialect", "a lone surrogate"]
    assert found.code == "cannot-carry"
    assert found.message.startswith("the dialect is written by hand, and its code fails: Unicode")


def test_a_dialect_by_hand_has_no_guide_and_says_so() -> None:
    guide = pg.guide_for(MyDialect())
    assert "'my-dialect' is not declared" in guide.markdown()


def test_a_class_in_place_of_an_instance_is_told() -> None:
    with pytest.raises(InputFault, match=r"a class, not an instance: give MyDialect\(\)"):
        pg.parse("x", MyDialect)  # type: ignore[arg-type]


def test_what_is_wrong_with_a_dialect_is_told_in_one_line() -> None:
    class Demanding(MyDialect):
        def format_tool_call(self, call, colour, size):
            return ""

    class Unready(MyDialect):
        def create_parser(self, prompt_data):
            return NotImplemented

    assert fault_of(MyDialect()) == ""
    assert fault_of(42) == "a int, not a playground.Dialect"
    assert fault_of(Dialect).startswith(
        "a class, not an instance: give Dialect() instead; it lacks"
    )
    wanted = "format_tool_call(call, colour, size) cannot be called as format_tool_call("
    assert fault_of(Demanding()).startswith(wanted)
    assert fault_of(Unready()).startswith("create_parser of dialect 'unready': NotImplemented")
    with pytest.raises(InputFault, match="cannot be called as"):
        pg.compare(sample(), [Demanding()])


def test_an_override_that_demands_a_name_nobody_gives_is_refused() -> None:
    class ByName(MyDialect):
        def format_tool_call(self, call, *, must):
            return ""

    words = "format_tool_call(call, must) cannot be called as format_tool_call(tool_call, tools)"
    assert fault_of(ByName()) == words


def test_the_seeds_dialect_hands_its_config_to_its_parser() -> None:
    class Configured(OnlyFeed):
        def __init__(self, config):
            super().__init__()
            self.config = config

    class Literal(MyDialect):
        def create_parser(self, prompt_data):
            return Configured(self.config)

    assert fault_of(Literal()) == ""
    assert Literal().create_parser(sample().prompt_data()).config == {}


# entry points

_PLUGIN = """
from playground import DeclaredDialect, Syntax
from playground.dialects import Dialect
DIALECT = DeclaredDialect(name='other', syntax=Syntax(call='!{call:json}'), rules='Hi.')
KLASS = DeclaredDialect
class Fails(DeclaredDialect):
    def format_tool_result(self, tool_result):
        raise RuntimeError('not\\nyet')
FAILS = Fails(name='fails', syntax=Syntax(call='!{call:json}'), rules='Hi.')
"""
_ENTRIES = {
    "good": "theirs:DIALECT",
    "klass": "theirs:KLASS",
    "gone": "no_such_module:DIALECT",
    "typo": "theirs:DIALEKT",
    "fails": "theirs:FAILS",
    "script": "a_script:DIALECT",
    "xml": "theirs:DIALECT",
}


@pytest.fixture
def plugins(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "theirs.py").write_text(_PLUGIN)
    (tmp_path / "a_script.py").write_text("raise SystemExit(3)")
    information = tmp_path / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in _ENTRIES.items()]
    (information / "entry_points.txt").write_text("\n".join(["[playground.dialects]", *lines]))
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def run(arguments: Sequence[str], environment: dict[str, str]) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "playground", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_broken_plugins_are_left_out_with_findings_and_the_rest_works_on(
    plugins: dict[str, str],
) -> None:
    program = (
        "import json, playground as pg\n"
        "found = [f.code + ' ' + f.message for f in pg.dialect_findings()]\n"
        "print(json.dumps(['good' in pg.dialect_names(), pg.get_dialect('good').name, found]))\n"
        "pg.carry(['good']); pg.compare(pg.sample_sessions()['01-plain-chat'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=plugins, capture_output=True, text=True
    )
    listed, name, found = json.loads(done.stdout)
    assert (listed, name) == (True, "good")
    start = "dialect-left-out dialect '{}' of package 'theirs': "
    told = {
        "klass": "a class, not an instance: give DeclaredDialect() instead",
        "gone": "no_such_module:DIALECT cannot be loaded: ModuleNotFoundError: No module named "
        "'no_such_module'",
        "typo": "theirs:DIALEKT cannot be loaded: AttributeError: module 'theirs' has no attribute "
        "'DIALEKT'",
        "fails": "format_tool_result fails: RuntimeError: not yet",
        "script": "a_script:DIALECT cannot be loaded: SystemExit: 3",
        "xml": "another dialect has that name already",
    }
    assert found[:-1] == [start.format(name) + text for name, text in told.items()]
    assert found[-1] == (
        "dialect-renamed dialect 'good' of package 'theirs' calls itself 'other': "
        "it is known by its entry point's name, 'good'"
    )


def test_the_commands_name_the_broken_plugins_and_work_on(plugins: dict[str, str]) -> None:
    status, listed, said = run(["guide", "--list"], plugins)
    assert (status, listed.split()[-1]) == (0, "good")
    assert said.count("warning dialect-left-out") == 6
    status, _, said = run(["compare", "01-plain-chat"], plugins)
    assert (status, said.count("dialect-left-out")) == (0, 6)
    status, _, said = run(["render", "01-plain-chat", "-d", "gone"], plugins)
    assert (status, said.count("\n")) == (2, 1)
    assert "dialect 'gone' of package 'theirs': no_such_module:DIALECT cannot be loaded" in said


# rules by dialect


def rules_in(messages: list[dict[str, Any]]) -> str:
    return str(messages[0]["content"][0]["text"]).partition("\n")[0]


def test_a_session_has_rules_by_dialect() -> None:
    data = sample().prompt_data()
    own = rules_in(pg.get_dialect("hermes").format_messages(data))
    config = TaskConfig(dialect_rules={"xml": "XML RULES"})
    data.task_config = config
    assert rules_in(pg.get_dialect("xml").format_messages(data)) == "XML RULES"
    assert rules_in(pg.get_dialect("hermes").format_messages(data)) == own


def test_a_file_or_a_folder_gives_rules(tmp_path: Path) -> None:
    (tmp_path / "xml.md").write_text("FROM FOLDER")
    one = tmp_path / "rules.txt"
    one.write_text("FROM FILE")
    data = sample().prompt_data()
    data.task_config = TaskConfig(dialect_rules="FROM SESSION")
    xml, hermes = pg.get_dialect("xml"), pg.get_dialect("hermes")
    assert rules_in(xml.format_messages(data, str(tmp_path))) == "FROM FOLDER"
    assert rules_in(hermes.format_messages(data, str(tmp_path))) == "# How to call a tool"
    assert rules_in(xml.format_messages(data, str(one))) == "FROM FILE"
    assert hermes.format_dialect_rules(data, str(one)) == "FROM FILE"
    assert hermes.format_system_prompt(data, str(one))["content"][0]["text"].startswith("FROM FILE")
    with pytest.raises(
        InputFault, match=r"nowhere\.md: No such file or directory; expected a text file"
    ):
        xml.format_messages(data, str(tmp_path / "nowhere.md"))
    column = pg.compare(sample(), ["xml"], rules_path=str(tmp_path)).columns[0]
    assert column.texts["rules"] == "FROM FOLDER\n"


def test_a_dialect_keeps_the_rules_of_a_file_unless_a_method_is_given_others(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "first.md", tmp_path / "second.md"
    first.write_text("FIRST")
    second.write_text("SECOND")
    data = sample().prompt_data()
    chosen = pg.get_dialect("xml").with_rules(str(first))
    assert rules_in(chosen.format_messages(data)) == "FIRST"
    assert rules_in(chosen.format_messages(data, str(second))) == "SECOND"
    assert rules_in(chosen.with_rules(None).format_messages(data)) == "# How to call a tool"
    theirs = MyDialect().with_rules(str(first)).format_messages(data)
    assert rules_in(theirs) == f"# My Dialect Rules ({first})"


def counted_with(rules: list[str], *command: str) -> Any:
    """What a command's JSON says of the characters or tokens of a request with these rules."""
    done = CliRunner().invoke(main, [*command, "-d", "xml", *rules, "--json"])
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout)


def tokens_of(request: dict[str, Any]) -> int:
    return int(request["read"] + request["uncached"] + sum(request["written"].values()))


@pytest.mark.parametrize(
    ("command", "figure"),
    [
        (["compare", "02-parallel-calls"], lambda told: told[0]["by_kind"]["dialect rules"]),
        (["cache", "02-parallel-calls"], lambda told: told[0]["characters"]),
        (["cache", "place", "02-parallel-calls"], lambda told: told[0]["characters"]),
        (
            ["cache", "simulate", "02-parallel-calls", "--policy", "azad"],
            lambda told: tokens_of(told[0]["requests"][0]) * 2,
        ),
        (
            ["check", "02-parallel-calls", "--no-cache-break"],
            lambda told: tokens_of(told["requests"][0]) * 2,
        ),
    ],
)
def test_every_command_that_writes_a_request_takes_rules(
    command: list[str], figure: Any, tmp_path: Path
) -> None:
    """`compare` and `cache` had no --rules."""
    short, long = tmp_path / "short.md", tmp_path / "long.md"
    short.write_text("A RULE")
    long.write_text("A RULE" + "." * 4000)
    less = figure(counted_with(["--rules", str(short)], *command))
    more = figure(counted_with(["--rules", str(long)], *command))
    assert (100 if "check" in command or "cache" in command else 3900) <= more - less <= 4100
    assert figure(counted_with([], *command)) != less
    gone = CliRunner().invoke(main, [*command, "-d", "xml", "--rules", str(tmp_path / "gone.md")])
    assert gone.exit_code == 2
    assert "gone.md: No such file or directory" in gone.stderr


def test_the_command_renders_with_rules_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "xml.md").write_text("FROM FOLDER")
    given = ["render", "02-parallel-calls", "-d", "xml", "-d", "hermes", "--rules", str(tmp_path)]
    said = CliRunner().invoke(main, given).stdout
    assert said.count("FROM FOLDER") == 1
    assert said.count("# How to call a tool") == 1


# pre-flight checks where users are


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps({"rich": 100, "poor": 2}))
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["render", "01-plain-chat", "-d", "xml", "--model", "kodu/claude"],
        ["record", "--session", "01-plain-chat", "--model", "kodu/claude", "--base-url", "x:1"],
    ],
)
def test_render_and_record_check_credits_first(
    arguments: list[str], ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGROUND_USER_KEY", "poor")
    monkeypatch.setenv("PLAYGROUND_CREDIT_THRESHOLD", "10")
    done = CliRunner().invoke(main, [*arguments, "--ledger", str(ledger)])
    assert done.exit_code == 2
    assert done.stderr == "playground: 2 credits left, a request needs at least 10\n"
    monkeypatch.setenv("PLAYGROUND_CREDIT_LEDGER", str(ledger))
    monkeypatch.setenv("PLAYGROUND_USER_KEY", "nobody")
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, "belongs to no user" in done.stderr) == (2, True)


def test_enough_credits_let_render_through(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYGROUND_USER_KEY", "rich")
    arguments = ["render", "01-plain-chat", "-d", "xml", "--model", "kodu/claude"]
    assert CliRunner().invoke(main, [*arguments, "--ledger", str(ledger)]).exit_code == 0


def paying(key: str) -> PromptData:
    return PromptData(
        messages=[Message("user", (TextPart("hi"),))],
        task_config=TaskConfig(model_name="kodu/claude"),
        dynamic_task_config=DynamicTaskConfig(model_api_key=SecretStr(key)),
    )


def test_run_in_the_app_checks_credits_first(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYGROUND_CREDIT_LEDGER", str(ledger))
    monkeypatch.setenv("PLAYGROUND_CREDIT_THRESHOLD", "10")
    monkeypatch.setenv("PLAYGROUND_USER_KEY", "poor")
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    app.query_params["session"] = "01-plain-chat"
    app.run().switch_page(str(paths.pages() / "compare.py")).run()
    model = next(field for field in app.text_input if field.label == "Model")
    model.set_value("kodu/claude").run()
    app.button(key="run").click().run()
    assert not app.exception
    shown = [text.value for text in [*app.text, *app.error]]
    assert "2 credits left, a request needs at least 10" in " ".join(shown)


def test_a_failing_ledger_is_told_from_missing_credits(tmp_path: Path) -> None:
    class Down:
        def credits(self, api_key: str) -> int | None:
            raise ConnectionError(f"no database for {api_key}")

    xml = pg.get_dialect("xml")
    with pytest.raises(LedgerError, match=r"ledger failed \(ConnectionError\)") as caught:
        xml.with_preflight(CreditCheck(Down())).format_messages(paying("sk-secret"))
    assert "sk-secret" not in str(caught.value)
    path = tmp_path / "list.json"
    path.write_text("[]")
    (check,) = checks_from({"PLAYGROUND_CREDIT_LEDGER": str(path)})
    with pytest.raises(InputFault, match="the credit ledger is a list"):
        xml.with_preflight(check).format_messages(paying("rich"))
    path.write_text("{}")
    with pytest.raises(UnknownUserError):
        xml.with_preflight(check).format_messages(paying("rich"))
    with pytest.raises(InputFault, match="'many' is not a threshold"):
        checks_from({"PLAYGROUND_CREDIT_LEDGER": "x", "PLAYGROUND_CREDIT_THRESHOLD": "many"})


def test_azads_own_method_reads_the_configuration_by_azads_spelling() -> None:
    class Caching(MyDialect):
        def inject_prompt_cache(self, messages: Any, prompt_data: Any) -> None:
            config = prompt_data.dyanmic_task_config
            if getattr(config, "cache_dialect", None) is None and config.enable_explicit_caching:
                messages[0]["content"][0]["cache_control"] = {"type": "ephemeral"}

    data = sample().prompt_data()
    for explicit in (False, True):
        data.dynamic_task_config = DynamicTaskConfig(enable_explicit_caching=explicit)
        first = Caching().format_messages(data)[0]["content"][0]
        assert ("cache_control" in first) == explicit


class AzadsMethods(MyDialect):
    """Two of Azad's own methods as its document has them, with the private ones that they call."""

    def format_tool_docs(self, prompt_data):
        docs = []
        for tool in prompt_data.tool_metadata:
            for name, param_info in tool.parameters.items():
                required = "(required)" if name in tool.required_parameters else "(optional)"
                docs.append(f"- {name}: {required} {self._get_parameter_description(param_info)}")
        return "\n".join(docs)

    def format_messages(self, prompt_data, rules_path):
        system_prompt = self.format_system_prompt(prompt_data, rules_path)
        formated = [system_prompt, *self.format_history(prompt_data)]
        formated = self._interleave_consecutive_messages(formated)
        self.inject_prompt_cache(formated, prompt_data)
        return formated


def test_azads_own_methods_find_the_private_ones_that_they_call() -> None:
    """Put into a dialect, they were an AttributeError, also for compare and place_cache."""
    session, dialect = sample(), AzadsMethods()
    data = session.prompt_data()
    data.override_messages([*data.messages, *data.messages[-1:]])  # neighbours of one role
    roles = [message["role"] for message in dialect.format_messages(data)]
    assert roles == [message["role"] for message in dialect.render(data).messages]
    assert all(one != next_one for one, next_one in itertools.pairwise(roles))
    described = session.tools[0].parameters["city"].description
    column = pg.compare(session, [dialect]).column("azads-methods")
    assert f"- city: (required) {described}" in column.texts["tools"]
    assert pg.place_cache(session, dialect).dialect == "azads-methods"
    assert dialect._get_parameter_description("a text") == "a text"


def test_joining_neighbours_leaves_the_given_messages_alone() -> None:
    given = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in "ab"]
    joined = AzadsMethods()._interleave_consecutive_messages(given)
    assert joined == [
        {"role": "user", "content": [{"type": "text", "text": t} for t in "ab"]},
    ]
    joined[0]["content"][0]["text"] = "changed"
    assert given[0]["content"] == [{"type": "text", "text": "a"}]


def test_prompt_data_is_made_by_azads_spelling_too() -> None:
    """`dyanmic_task_config=` was an unknown field, though it could be read."""
    config = DynamicTaskConfig(enable_explicit_caching=True)
    data = PromptData(dyanmic_task_config=config)
    assert data == PromptData(dynamic_task_config=config)
    assert PromptData.model_validate_json(data.model_dump_json()) == data
    assert "dynamic_task_config" in data.model_dump()
