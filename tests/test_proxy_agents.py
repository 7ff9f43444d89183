"""Agents' own command lines, out of npm, through the proxy: no network but this machine's.

Long: each is installed by npm (100 to 400 MB), and skipped with the reason where that does not go.
What each needs beside the variables that the proxy sets stands beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import ROOT
from rule_provider import provided

KEY = "sk-" + "k" * 40
NOWHERE = "http://127.0.0.1:9"  # a proxy for all else: nothing listens there


@dataclass(frozen=True)
class Agent:
    """A package with its version, what is run, and what is written into its home before."""

    package: str
    command: tuple[str, ...]
    key: str
    home: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    port: str = "0"


AGENTS = (
    Agent(
        "@anthropic-ai/claude-code@2.1.330",
        ("claude", "-p", "Say done.", "--model", "claude-sonnet-4-6"),
        "ANTHROPIC_API_KEY",
        variables={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    ),
    Agent(
        "@openai/codex@0.169.0",
        ("codex", "exec", "--skip-git-repo-check", "-c", 'model="gpt-5"', "Say done."),
        "CODEX_API_KEY",
    ),
    Agent(
        "opencode-ai@1.18.33",
        ("opencode", "run", "-m", "anthropic/claude-sonnet-4-6", "Say done."),
        "ANTHROPIC_API_KEY",
        variables={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    ),
    Agent(
        "@google/gemini-cli@0.61.0",
        ("gemini", "--skip-trust", "-m", "gemini-2.5-pro", "-p", "Say done."),
        "GEMINI_API_KEY",
        {".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'},
    ),
    Agent(
        "@mariozechner/pi-coding-agent@0.73.1",
        ("pi", "-p", "--provider", "anthropic", "--model", "claude-sonnet-4-6", "Say done."),
        "ANTHROPIC_API_KEY",
        {
            ".pi/agent/models.json": '{"providers": {"anthropic": '
            '{"baseUrl": "http://127.0.0.1:18788"}}}'
        },
        {"PI_OFFLINE": "1"},
        port="18788",
    ),
    Agent(
        "@qwen-code/qwen-code@0.24.4",
        ("qwen", "-m", "gpt-4o", "--auth-type", "openai", "-p", "Say done."),
        "OPENAI_API_KEY",
    ),
)


def installed(package: str, folder: Path) -> Path:
    """Where npm has put the package's commands; the test is skipped where it cannot."""
    wanted = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), package]
    try:
        done = subprocess.run(wanted, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm is not here, or does not end: {error}")
    if done.returncode:
        pytest.skip(f"npm did not install {package}: {done.stderr.strip()[:300]}")
    return folder / "node_modules" / ".bin"


@pytest.mark.long
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.command[0])
def test_an_agents_own_command_goes_through_without_network(agent: Agent, tmp_path: Path) -> None:
    commands = installed(agent.package, tmp_path / "npm")
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    for name, text in agent.home.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    home.mkdir(exist_ok=True)
    environment = {
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "PLAYGROUND_HOME": str(tmp_path / "playground"),
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        **{name: NOWHERE for name in ("HTTPS_PROXY", "https_proxy")},
        **{name: "127.0.0.1,localhost" for name in ("NO_PROXY", "no_proxy")},
        agent.key: KEY,
        **agent.variables,
    }
    with provided() as server:
        proxy = ["proxy", "--port", agent.port, "--upstream", server.url, "--"]
        done = subprocess.run(
            [sys.executable, "-m", "playground", *proxy, *agent.command],
            capture_output=True,
            text=True,
            cwd=work,
            env=environment,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        bills = server.provider.bills
    assert done.returncode == 0, done.stderr
    assert "Done." in done.stdout
    (run,) = (tmp_path / "playground" / "recordings" / "proxy").iterdir()
    assert run.joinpath("said.txt").read_text().count(": billed read ") == len(bills) > 0
    files = sorted(run.glob("0*.jsonl"))
    assert len(files) == len(bills)
    for file in files:
        text = file.read_text()
        assert KEY not in text
        lines = [json.loads(line) for line in text.splitlines()]
        assert any("request" in line for line in lines)
        assert "Done." in "".join(line.get("raw", "") for line in lines)
