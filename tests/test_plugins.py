"""The core works without its plugins, and takes those of other packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from session_examples import EXAMPLES

COMMANDS = {
    "contributing": ["new"],
    "corpus": ["corpus"],
    "guides": ["guide"],
    "importers": [],
    "mcp_server": ["mcp"],
    "own_dialects": ["chat-template", "dialect"],
    "proxy": ["proxy"],
    "savings": ["compaction"],
    "systems": ["signature", "template"],
    "trials": ["trial"],
}
PAGES = {
    "contributing": [],
    "corpus": ["corpus"],
    "guides": ["guide"],
    "importers": [],
    "mcp_server": [],
    "own_dialects": ["declare"],
    "proxy": ["live"],
    "savings": [],
    "systems": ["prompts", "signatures", "formats"],
    "trials": ["trials"],
}


# What the core asks of any plugin is seen without all of them, and a plugin imports no other
# (test_layers.py). Where one alone is gone, the corpus, a page is listed in another place.
EVERY = " ".join(COMMANDS)
each_alone = pytest.mark.parametrize("without", COMMANDS, indirect=True)
at_once = pytest.mark.parametrize(
    "without",
    [
        pytest.param(EVERY, id="every"),
        "corpus",
        *(pytest.param(name, marks=pytest.mark.long) for name in COMMANDS if name != "corpus"),
    ],
    indirect=True,
)


@pytest.fixture(scope="module")
def without(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout without the folders of the plugins that are named."""
    tree = tmp_path_factory.mktemp("without")
    for folder in ("playground", "pages", "sample_sessions", ".streamlit"):
        shutil.copytree(ROOT / folder, tree / folder)  # with what is compiled already
    for name in request.param.split():
        shutil.rmtree(tree / "playground" / "plugins" / name)
    (tree / "gone").write_text(request.param)
    return tree


def run(tree: Path, *words: str, status: int = 0) -> str:
    """What a Python says that finds the package in this tree."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr[-2000:]
    return done.stdout + done.stderr


@each_alone
def test_the_commands_of_a_plugin_that_is_gone_are_gone_and_no_others(without: Path) -> None:
    gone = (without / "gone").read_text()
    listed = run(without, "-m", "playground", "--help")
    named = set(re.findall(r"^  ([a-z-]+)  ", listed, re.MULTILINE))
    for name, commands in COMMANDS.items():
        assert named & set(commands) == set(() if name == gone else commands)
    for command in COMMANDS[gone]:
        told = run(without, "-m", "playground", command, status=2)
        assert f"There is no command '{command}'" in told


@at_once
def test_the_core_answers_without_it(without: Path) -> None:
    code = (
        "import playground as pg\n"
        "from click.testing import CliRunner\n"
        "from playground.cli import main\n"
        "for words in ('render 02-parallel-calls -d hermes', 'cache 06-cache-eight-turns'):\n"
        "    assert CliRunner().invoke(main, words.split()).exit_code == 0, words\n"
        "session = pg.load_session('sample_sessions/02-parallel-calls.json')\n"
        "rows = len(pg.compare(session)), len(pg.compare(session, ['hermes']).frame())\n"
        "print('rows', rows[0] > 50, rows[1], len(pg.simulate_cache(session).html()) > 1000)\n"
        "template = pg.ChatTemplate('{% for m in messages %}{{ m.content }}{% endfor %}')\n"
        "print(*[each.code for each in pg.raw_prompt(session, template).findings])"
    )
    said = run(without, "-c", code)
    assert "rows True 1 True\n" in said
    gone = (without / "gone").read_text().split()
    assert ("template-ignores-tools" in said) == ("own_dialects" not in gone)


@at_once
def test_the_pages_of_a_plugin_that_is_gone_are_gone_and_the_others_open(without: Path) -> None:
    gone = (without / "gone").read_text().split()
    code = (
        "from streamlit.testing.v1 import AppTest\n"
        "from playground.app.pages import PAGES, listed\n"
        "from playground.base import paths\n"
        "print(*[entry.name for entry in PAGES])\n"
        "print(*[entry.name for entry in listed()])\n"
        "app = AppTest.from_file(str(paths.app_file()), default_timeout=300).run()\n"
        "app.switch_page(str(paths.pages() / 'compare.py')).run()\n"
        "assert not app.exception, app.exception\n"
        "app.query_params['guide'] = 'hermes'\n"  # without guides, the list is shown
        "app.switch_page(str(paths.pages() / 'dialects.py')).run()\n"
        "assert not app.exception, app.exception\n"
        "app.switch_page(str(paths.pages() / 'cache.py')).run()\n"
        "assert not app.exception, app.exception\n"
        "groups = app.get('button_group')\n"
        "print(*[option.content for group in groups for option in group.proto.options])\n"
    )
    said = run(without, "-c", code).splitlines()
    names, listed = map(set, map(str.split, said[:2]))
    assert ("Compaction" in said[2]) == ("savings" not in gone)
    assert listed.issuperset({"dialects", "diff"})
    assert ("live" in listed) == (gone == ["corpus"])  # a view whose page is gone is a page
    assert {"start", "compare", "cache", "replay"} <= names
    for name, pages in PAGES.items():
        assert names & set(pages) == set(() if name in gone else pages)


@pytest.mark.parametrize(
    ("folder", "code", "named"),
    [
        ("corpus", "import playground as pg; pg.corpus", "playground.corpus"),
        ("corpus", "from playground.corpora import corpus", "playground.corpora"),
        ("guides", "import playground as pg; pg.guide_for", "playground.guide_for"),
        ("guides", "from playground.lab.guides import UseCase", "playground.lab.guides"),
        ("own_dialects", "import playground as pg; pg.audit_template", "playground.audit_template"),
        ("own_dialects", "import playground as pg; pg.check_dialect", "playground.check_dialect"),
        ("own_dialects", "from playground.lab.laws import LAWS", "playground.lab.laws"),
        ("savings", "import playground as pg; pg.compaction", "playground.compaction"),
        ("savings", "from playground.lab.savings import ToolPlan", "playground.lab.savings"),
        ("systems", "from playground import ChatAdapter", "playground.ChatAdapter"),
        ("systems", "from playground.agents import tool", "playground.agents"),
        ("systems", "import playground.templates as t; t.execute", "playground.templates"),
        ("trials", "import playground as pg; pg.trial", "playground.trial"),
        ("trials", "from playground.questions.trials import Share", "playground.questions.trials"),
    ],
)
def test_a_name_of_a_plugin_that_is_gone_says_so_in_one_line(
    folder: str, code: str, named: str, tmp_path: Path
) -> None:
    ignored = shutil.ignore_patterns(folder)
    shutil.copytree(ROOT / "playground", tmp_path / "playground", ignore=ignored)
    last = run(tmp_path, "-c", code, status=1).splitlines()[-1]
    assert last == (
        "playground.base.registry.PluginMissingError: "
        f"{named} belongs to the plugin {folder!r}, which is not installed here; expected an entry "
        f"point {folder!r} of the group 'playground.plugins' (pip install writes it) and the code "
        "behind it"
    )


def test_an_option_of_a_plugin_that_is_gone_says_so_in_one_line(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("savings")
    shutil.copytree(ROOT / "playground", tmp_path / "playground", ignore=ignored)
    session = str(ROOT / "sample_sessions/02-parallel-calls.json")
    told = run(tmp_path, "-m", "playground", "tools", session, "--plan", status=2)
    assert told.count("\n") == 1
    assert "tools --plan belongs to the plugin 'savings', which is not installed here" in told


def test_a_file_that_a_missing_plugin_reads_is_refused_with_its_name(tmp_path: Path) -> None:
    """Or else a wider format of the core reads it, and its findings say what that leaves out."""
    ignored = shutil.ignore_patterns("importers")
    shutil.copytree(ROOT / "playground", tmp_path / "playground", ignore=ignored)
    for file, form in (("trace.json", "otel-spans"), ("log.jsonl", "claude-code")):
        content = EXAMPLES[form].content
        assert isinstance(content, bytes)
        (tmp_path / file).write_bytes(content)
    told = run(tmp_path, "-m", "playground", "import", "trace.json", status=2)
    missing = "the plugin 'importers', which reads files of other programs, is not installed here"
    assert told.endswith(f"lists; {missing}\n")
    log = ("-m", "playground", "import", "log.jsonl", "--strict")
    assert "lines-left-out" in run(tmp_path, *log, status=1)
    told = run(tmp_path, *log, "--format", "claude-code", status=2)
    assert "unknown format 'claude-code'; the nearest of " in told


PLUGIN = """
import click
from playground.base.display import Shown, draws
from playground.base.registry import Plugin, PluginCommand
from playground.questions.recognised_documents import Recognised
from playground.sessions.formats.base import SessionFormat

PLUGIN = Plugin(
    commands={"hail": PluginCommand("hailing:hail")},
    drawings=("hailing",),
    formats=("hailing:Hailed",),
    narrow_formats={"WireStream": ("hailing:Shouted",), "NoSuchFormat": ("hailing:Lost",)},
    recognisers=("hailing:recognise",),
)

class Answer(Shown):
    pass

@draws("frame", Answer)
def frame(value):
    import pandas
    return pandas.DataFrame([["ahoy"]], columns=["said"])

@click.command()
def hail():
    click.echo("ahoy")

class Hailed(SessionFormat):
    name, title = "hailed", "Hails"
    def recognises(self, source):
        return source.text.startswith("AHOY")
    def sessions(self, source):
        yield from ()

class Shouted(Hailed):
    name = "shouted"

class Lost(Hailed):
    name = "lost"

def recognise(text, name):
    return Recognised("nothing", "a hail") if text.startswith("Ahoy") else None
"""


@pytest.fixture
def hailing(tmp_path: Path) -> Path:
    """A package of somebody else's, as pip leaves one."""
    (tmp_path / "hailing.py").write_text(PLUGIN)
    info = tmp_path / "hailing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hailing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[playground.plugins]\nhailing = hailing:PLUGIN\n")
    return tmp_path


def test_a_plugin_of_another_package_brings_all_that_ours_bring(hailing: Path) -> None:
    assert run(hailing, "-m", "playground", "hail") == "ahoy\n"
    code = (
        "import hailing\n"
        "from playground.questions.recognition import recognise\n"
        "from playground.sessions.formats import format_names, get_format\n"
        "print(hailing.Answer())\n"
        "names = format_names()\n"
        "print(names[names.index('request-rows') + 1], *names[-2:], get_format('hailed').title)\n"
        "print(recognise('Ahoy there').title)\n"
        "print(recognise('Hello there').kind)\n"
    )
    said = [line.split() for line in run(hailing, "-c", code).splitlines()]
    assert said == [
        ["said"],
        ["ahoy"],
        ["shouted", "lost", "hailed", "Hails"],
        ["a", "hail"],
        ["reply"],
    ]


def test_a_broken_plugin_is_left_out_with_a_warning(hailing: Path) -> None:
    (hailing / "hailing.py").write_text("PLUGIN = 1\n")
    told = run(hailing, "-m", "playground", "--help")
    assert "plugin 'hailing' (hailing:PLUGIN) is left out: its value is a int, not a Plugin" in told
    (hailing / "hailing.py").write_text("1 / 0\n")
    told = run(hailing, "-m", "playground", "--help")
    assert "is left out: ZeroDivisionError: division by zero" in told
    assert "render" in told


def test_nothing_looks_for_plugins_before_one_is_needed() -> None:
    code = (
        "import sys\n"
        "import playground as pg\n"
        "session = pg.load_session('sample_sessions/02-parallel-calls.json')\n"
        "pg.parse('hello', dialect='hermes')\n"
        "pg.place_cache(session)\n"
        "print('playground.base.registry' in sys.modules)"
    )
    assert run(ROOT, "-c", code) == "False\n"
