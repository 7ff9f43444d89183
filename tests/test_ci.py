"""Checks in a pipeline: reports, files beside their versions in git, the action and the hook."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import terminals
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from playground.base.findings import finding
from playground.base.registry import plugins
from playground.plugins.ci.comments import MARKER
from playground.plugins.ci.junit import junit
from playground.plugins.ci.markdown import markdown
from playground.plugins.ci.sarif import _LIMITS, sarif

pytestmark = pytest.mark.early

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_sessions" / "02-parallel-calls.json"
SCRIPTS = Path(sys.executable).parent

texts = st.text(st.characters(codec="utf-8"), min_size=1) | st.sampled_from(
    ["```\n# x", "<img src=x>", "@team [a](http://b)", "|a|\n|-|", "\x1b[31m", "`a` ``b``", "]]>"]
)
outcomes = st.lists(
    st.fixed_dictionaries(
        {
            "session": texts,
            "failures": st.lists(texts, max_size=3),
            "findings": st.lists(
                st.builds(
                    finding,
                    st.sampled_from(
                        ["truncated-call", "call-in-fence", "mended-form", "undecided-limit"]
                    ),
                    texts,
                    texts,
                ),
                max_size=3,
            ),
            "differences": st.just([]),
        }
    ),
    min_size=1,
    max_size=4,
)


@given(outcomes)
def test_no_text_of_a_session_becomes_markup(checked: list[dict[str, Any]]) -> None:
    """CommonMark with tables sees a heading, tables, code and our own sentences, nothing else."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(checked))
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= {"text", "code_inline", "softbreak"}
    assert not [token for token in tokens if token.type in ("html_block", "code_block")]
    headings = [token.content for token in tokens if token.type == "inline" and token.level == 1]
    assert headings[0].startswith("Dialect Playground: ")
    assert len([token for token in tokens if token.type == "heading_open"]) == 1
    plain = " ".join(child.content for child in inline if child.type == "text")
    assert not re.search(r"@team|http|img", plain)
    blocks = [token for token in tokens if token.type == "fence"]
    assert len(blocks) == sum(bool(each["failures"] or each["findings"]) for each in checked)


@given(outcomes)
def test_reports_are_well_formed_and_count_alike(checked: list[dict[str, Any]]) -> None:
    """JUnit is XML with a test a file, SARIF has a result for each failure and finding."""
    suite = ElementTree.fromstring(junit(checked).encode())
    failing = sum(bool(outcome["failures"]) for outcome in checked)
    assert int(suite.attrib["tests"]) == len(suite.findall("*/testcase")) == len(checked)
    assert int(suite.attrib["failures"]) == len(suite.findall("*/testcase/failure")) == failing
    assert int(suite.attrib["errors"]) == len(suite.findall("*/testcase/error"))
    assert int(suite.attrib["skipped"]) == len(suite.findall("*/testcase/skipped"))
    assert suite.attrib.items() <= suite[0].attrib.items()

    (run,) = json.loads(sarif(checked))["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    expected = [found.code for outcome in checked for found in outcome["findings"]]
    failed = sum(len(outcome["failures"]) for outcome in checked)
    named = [result["ruleId"] for result in run["results"]]
    assert sorted(set(named) - _LIMITS.keys()) == sorted(set(expected))
    assert (len(named), rules) == (len(expected) + failed, set(named))
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[\w.~%/-]+", uri, re.ASCII)


def test_a_large_report_is_cut_and_says_so() -> None:
    outcome = {"findings": [], "differences": [], "failures": ["x" * 1_000] * 60}
    text = markdown([{"session": f"{n}.jsonl", **outcome} for n in range(30)])
    assert len(text) < 65_536
    assert "… and 20 more lines" in text
    assert re.search(r"\d+ more files with findings not shown", text)


class GitHub(BaseHTTPRequestHandler):
    """The comments of pull request 7, as GitHub's API keeps them."""

    server: Any

    def _answer(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> Any:
        assert self.headers["Authorization"] == "Bearer not-a-real-token"
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        assert urlsplit(self.path).path == "/repos/harbour/agent/issues/7/comments"
        page = 2 if "page=2" in self.path else 1
        self._answer(self.server.comments[(page - 1) * 100 : page * 100])

    def do_POST(self) -> None:
        body = self._body()["body"]
        if self.server.refuses:
            self._answer({}, 403)
            return
        self.server.comments.append({"id": len(self.server.comments), "body": body})
        self._answer({}, 201)

    def do_PATCH(self) -> None:
        number = int(self.path.removeprefix("/repos/harbour/agent/issues/comments/"))
        self.server.comments[number]["body"] = self._body()["body"]
        self._answer({})

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def github() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
    # More than a page of other people's comments, one of which has no text.
    server.comments = [{"id": n, "body": None if n else f"see {MARKER}"} for n in range(120)]
    server.refuses = False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two committed sessions, one changed since, and a new one."""
    place = tmp_path / "scratch"
    (place / "traces").mkdir(parents=True)
    for name in ("a b.json", "-same.json"):
        shutil.copy(SAMPLE, place / "traces" / name)
    git(place, "init", "--quiet")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "traces: record")
    changed = SAMPLE.read_text().replace("small harbour office", "large harbour office")
    (place / "traces" / "a b.json").write_text(changed)
    shutil.copy(SAMPLE, place / "traces" / "new.json")
    git(place, "add", "--all")
    return place


def git(place: Path, *words: str) -> None:
    own = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    subprocess.run(["git", *own, *words], cwd=place, check=True, capture_output=True)


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}", **more}


def test_the_action_comments_once_and_fails_on_a_change(
    repository: Path, github: Any, tmp_path: Path
) -> None:
    """The script of `action.yml` runs as it stands: comment, summary, SARIF, JUnit, status."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    inputs = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(step["env"])))
    assert inputs == set(action["inputs"])  # each input reaches the script
    assert "${{" not in step["run"]  # and none is pasted into it
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    summary = tmp_path / "summary.md"
    variables = environment(
        FILES="traces/*.json\n\n", BASE="HEAD", MOST_TOKENS_MORE="", PREFIX_MAY_CHANGE="false",
        COMMENT="true", SARIF="out.sarif", JUNIT="out.xml", GITHUB_TOKEN="not-a-real-token",
        GITHUB_API_URL=f"http://127.0.0.1:{github.server_address[1]}",
        GITHUB_REPOSITORY="harbour/agent", GITHUB_EVENT_PATH=str(event),
        GITHUB_STEP_SUMMARY=str(summary),
    )  # fmt: skip

    def run() -> subprocess.CompletedProcess[str]:
        script = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
        return subprocess.run(
            script, cwd=repository, env=variables, text=True, capture_output=True, check=False
        )

    done = run()
    assert done.returncode == 1, done.stderr
    assert "'small', then 'large'" in done.stdout
    assert "comment written" in done.stderr
    (comment,) = github.comments[120:]
    assert comment["body"] == f"{MARKER}\n{summary.read_text()}"
    assert (
        "| `traces/a b.json` | `anthropic/claude-sonnet-4-5` | ~1,123 | ~1,123 | +0 "
        in comment["body"]
    )
    assert "| `traces/new.json` | new file |" in comment["body"]
    assert len(json.loads((repository / "out.sarif").read_text())["runs"][0]["results"]) == 1
    suite = ElementTree.parse(repository / "out.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("3", "1")

    assert "comment is up to date" in run().stderr  # the same again
    shutil.copy(SAMPLE, repository / "traces" / "a b.json")
    done = run()
    assert (done.returncode, "comment replaced" in done.stderr) == (0, True)
    assert len(github.comments) == 121
    assert "### Dialect Playground: passed" in github.comments[-1]["body"]

    (repository / "traces" / "-same.json").write_text("{")  # the others are still compared
    done = run()
    assert (done.returncode, "-same.json: cannot be compared: " in done.stdout) == (2, True)
    assert "a b.json: passed against the baseline" in done.stdout
    assert "| `traces/-same.json` | not compared |" in github.comments[-1]["body"]
    shutil.copy(SAMPLE, repository / "traces" / "-same.json")

    github.comments.pop()
    github.refuses = True  # a fork's job may not write: the check still counts
    done = run()
    assert (done.returncode, "GitHub answered 403" in done.stderr) == (0, True)
    variables["FILES"] = "nothing/*.json"
    done = run()
    assert (done.returncode, "no file of the repository matches" in done.stdout) == (2, True)


@pytest.mark.parametrize(("base", "said"), [
    ("", "HEAD~1 is not here; give base, or check out with fetch-depth: 2"),
    ("gone", "origin has no commit gone"),
])  # fmt: skip
def test_the_action_without_a_baseline_is_one_error(repository: Path, base: str, said: str) -> None:
    step = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][-1]
    values = dict.fromkeys(step["env"], "") | {"FILES": "traces/*.json", "BASE": base}
    script = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(
        script,
        cwd=repository,
        env=environment(**values),
        text=True,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, f"::error::no baseline: {said}\n")


def test_the_hook_names_a_changed_file_and_passes_an_unchanged_one(repository: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*shlex.split(hook["entry"]), *words]
        return subprocess.run(
            command, cwd=repository, env=environment(), text=True, capture_output=True, check=False
        )

    done = run("traces/a b.json", "traces/new.json")
    assert done.returncode == 1
    assert "traces/a b.json: system: " in done.stdout
    assert "traces/new.json: new, so there is no baseline" in done.stdout
    done = run("--", "traces/-same.json")
    assert (done.returncode, done.stdout) == (
        0,
        "traces/-same.json: passed against the baseline, +0 tokens\n",
    )
    done = run("--prefix-may-change", "--most-tokens-more", "0", "traces/a b.json")
    assert done.returncode == 0
    done = run("--prefix-may-change", "traces/a b.json", "traces/-same.json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--most-tokens-more as well" in done.stderr
    done = run("--", "traces/nwe.json", "gone/nwe.json", "traces/-same.json")  # mistyped
    for name in ("traces/nwe.json", "gone/nwe.json"):
        assert f"{name}: cannot be compared: there is no such file" in done.stdout
    assert (done.returncode, "traces/-same.json: passed" in done.stdout) == (2, True)
    (repository / "traces" / "broken.json").write_text("{")
    done = run("traces/broken.json")
    assert (done.returncode, "cannot be compared: " in done.stdout) == (2, True)
    (repository / "traces" / "broken.json").unlink()
    done = run("--base", "--help", "traces/new.json")
    assert (done.returncode, "'--help' is not a commit" in done.stderr) == (2, True)
    done = run("--comment", "traces/new.json")
    assert (done.returncode, "--comment without $GITHUB_TOKEN" in done.stderr) == (2, True)

    document = (ROOT / "docs" / "versions.md").read_text()
    *_, action, hooks = map(
        yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", document, re.S | re.M)
    )
    ((shown,),) = (repo["hooks"] for repo in hooks["repos"])
    assert (shown["id"], shown["entry"]) == (hook["id"], hook["entry"])
    assert run(*shown["args"], "traces/a b.json").returncode == 1
    used = action["jobs"]["prompts"]["steps"][-1]
    assert used["uses"].endswith("/dialect-playground@COMMIT")  # no tag that is not there
    assert used["with"].keys() <= yaml.safe_load((ROOT / "action.yml").read_text())["inputs"].keys()


def test_sarif_names_a_file_from_the_root_of_its_repository(repository: Path) -> None:
    """GitHub and editors look for a relative address there, wherever the check ran."""
    (repository / "traces" / "deep").mkdir()
    shutil.copy(repository / "traces" / "a b.json", repository.parent / "alone.json")
    own, alone = str(repository / "traces" / "a b.json"), str(repository.parent / "alone.json")
    inside = {"uri": "traces/a%20b.json", "uriBaseId": "%SRCROOT%"}
    for folder, name, location in [
        (repository, "traces/a b.json", inside),
        (repository / "traces", "a b.json#1", inside),
        (repository / "traces" / "deep", "../a b.json", inside),
        (repository.parent, own, inside),
        (repository.parent, "alone.json", {"uri": "alone.json"}),
        (repository, alone, {"uri": Path(alone).as_uri()}),
    ]:
        report = repository.parent / "out.sarif"
        command = ["playground", "check", name, "--against", str(SAMPLE), "--most-tokens-more=0"]
        subprocess.run(
            [*command, "--report-to", str(report), "--force"], cwd=folder, env=environment()
        )
        for result in json.loads(report.read_text())["runs"][0]["results"]:
            assert result["locations"][0]["physicalLocation"]["artifactLocation"] == location
            assert result["locations"][0]["physicalLocation"]["region"]["startLine"] > 1
        report.unlink()


def test_junit_names_a_file_from_the_root_of_its_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checks that ran in two folders had the same name for two files."""
    shutil.copytree(repository / "traces", repository / "others")
    names = []
    for folder in ("traces", "others"):
        monkeypatch.chdir(repository / folder)
        suite = ElementTree.fromstring(
            junit([{"session": "a b.json", "failures": [], "findings": []}]).encode()
        )
        names += [case.attrib["name"] for case in suite.findall("*/testcase")]
    assert names == ["traces/a b.json", "others/a b.json"]


def test_a_change_is_told_with_its_rule_its_line_and_a_lasting_fingerprint(tmp_path: Path) -> None:
    """Each result of SARIF stands where the file has what changed, under a rule with help."""
    old = json.loads(SAMPLE.read_text())
    new = json.loads(SAMPLE.read_text().replace("small harbour office", "large harbour office"))
    new["tools"][0]["description"] += " Never twice."
    new["tools"][1] = {"name": "get_moon", "description": "The moon.", "input_schema": {}}
    new["messages"].insert(2, {"role": "assistant", "parts": []})
    told = []
    for more in (0, 1):  # a line more at the beginning, and other numbers
        for name, session in (("old.json", old), ("new.json", new)):
            (tmp_path / name).write_text("\n" * more + json.dumps(session, indent=1))
        words = ("--against", str(tmp_path / "old.json"), "--most-tokens-more", "0")
        report = ("--report-to", str(tmp_path / "out.sarif"), "--force")
        done = terminals.run("check", str(tmp_path / "new.json"), *words, *report)
        assert done.returncode == 1
        (run,) = json.loads((tmp_path / "out.sarif").read_text())["runs"]
        told.append(run["results"])
    lines = ["", *(tmp_path / "new.json").read_text().splitlines()]
    places = [each["locations"][0]["physicalLocation"] for each in told[1]]
    at = {
        each["message"]["text"]: lines[place["region"]["startLine"]].strip()
        for each, place in zip(told[1], places, strict=True)
    }
    removed, changed, added, *rest = at.items()
    assert removed[0].startswith("tool get_tides: removed, ")
    assert removed[1] == '"tools": ['
    assert changed[0].endswith("tokens: ' Never twice.' added")
    assert changed[1] == '"name": "get_weather",'
    assert (added[0][:20], added[1]) == ("tool get_moon: added", '"name": "get_moon",')
    assert any("large harbour" in line and "'small', then 'large'" in text for text, line in rest)
    assert any(text.startswith("messages.2: ") and line == "{" for text, line in rest)
    codes = {each["ruleId"] for each in told[1]}
    assert {"tools-changed", "system-changed", "empty-message"} <= codes
    assert all(rule["help"]["text"] for rule in run["tool"]["driver"]["rules"])
    first, second = ([each["partialFingerprints"] for each in results] for results in told)
    assert first == second
    assert len({*map(str, first)}) == len(first)


def test_a_text_file_is_guarded_as_a_system_prompt(repository: Path) -> None:
    """As sessions are: by a baseline, by git, with a report, and by the commands that show it."""
    (repository / "system.txt").write_text("You are a harbour agent.\n\nUse {name}.\n")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "prompts: write")
    shutil.copy(repository / "system.txt", repository / "before.prompt")
    command = ["check", "system.txt", "--against", "before.prompt", "--model", "gpt-4o"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        line = [str(SCRIPTS / "playground"), *words]
        return subprocess.run(line, cwd=repository, text=True, capture_output=True, check=False)

    done = run(*command)
    assert (done.returncode, done.stdout) == (
        0,
        "1 session passed against the baseline, +0 tokens\n",
    )
    assert done.stderr.count("\n") == 1
    assert "info prompt-alone (system.txt): " in done.stderr
    (repository / "system.txt").write_text("You are a harbour agent.\n\nNever use {name}.\n")
    for words in (command, ["check-changed", "system.txt", "--model", "gpt-4o"]):
        done = run(*words)
        assert done.returncode == 1
        assert "'Use', then 'Never use'" in done.stdout
    done = run(*command, "--prefix-may-change", "--most-tokens-more", "0")
    assert (done.returncode, "1 tokens more" in done.stdout) == (1, True)
    assert "Never use {name}." in run("render", "system.txt", "-d", "hermes").stdout
    for name, content in (("a.json", b"{}"), ("a.txt", b'{"a": 1}'), ("b.txt", b" \n")):
        (repository / name).write_bytes(content)
        done = run("check", name, "--against", "before.prompt")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done


def test_check_writes_each_form_and_replaces_none(tmp_path: Path) -> None:
    files = [tmp_path / f"out{ending}" for ending in plugins()["ci"].reports]
    words = [word for file in files for word in ("--report-to", str(file))]
    done = terminals.run("check", str(SAMPLE), "--max-cost-multiple", "0.5", *words)
    assert done.returncode == 1
    for file in files:
        assert "at most 0.5 is allowed" in file.read_text()
        assert "below-minimum" in file.read_text() or file.suffix == ".xml"  # no error
    done = terminals.run("check", str(SAMPLE), "--no-cache-break", *words)
    assert (done.returncode, "--force" in done.stderr) == (2, True)
    done = terminals.run("check", "nowhere.json", "--report-to", "x.html")
    assert (done.returncode, ".sarif, .xml, .md" in done.stderr) == (2, True)
