"""The AI SDK's tool-call middleware, run from its npm package: what a protocol makes of a stream.

Needs `npm` and `node` on the path. The package is installed by its name into the folder for
temporary files, once for each version.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any, Final

from asking import PIECE, asking
from server_parsers import Handed, Read, arguments

PACKAGE: Final = "@ai-sdk-tool/parser@4.1.26"
"""The release nearest to the commit of which the views are declared."""
MAIN: Final = r"""
import { createInterface } from 'node:readline';
import * as protocols from '@ai-sdk-tool/parser';

const read = async ({ protocol, tools, pieces }) => {
  const made = protocols[protocol];
  const parser = (typeof made === 'function' ? made() : made).createStreamParser({
    tools, options: {},
  });
  const delta = (piece) => ({ type: 'text-delta', id: '1', delta: piece });
  const parts = [{ type: 'text-start', id: '1' }, ...pieces.map(delta)];
  parts.push({ type: 'text-end', id: '1' }, { type: 'finish', finishReason: 'stop', usage: {} });
  const said = { content: '', reasoning: '', calls: [], raises: '' };
  for await (const part of ReadableStream.from(parts).pipeThrough(parser)) {
    if (part.type === 'text-delta') said.content += part.delta;
    if (part.type === 'tool-call') said.calls.push([part.toolName, part.input]);
  }
  return said;
};
for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try {
    said = await read(JSON.parse(line));
  } catch (error) {
    said = { content: '', reasoning: '', calls: [], raises: String(error) };
  }
  process.stdout.write(JSON.stringify(said) + '\n');
}
"""
PROTOCOLS: Final = {
    "hermes": "hermesProtocol",
    "qwen3coder": "qwen3CoderProtocol",
    "morph-xml": "morphXmlProtocol",
}
"""The protocols of the release, by the names of the declared parsers; others are not in it."""


def installed() -> Path:
    """Install the package if it is missing; return the script's path in a folder that has it."""
    if which("npm") is None or which("node") is None:
        sys.exit("no npm and node on the path")
    folder = Path(tempfile.gettempdir()) / f"playground-{PACKAGE.replace('/', '-')}"
    folder.mkdir(exist_ok=True)
    if not (folder / "node_modules").is_dir():
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run([*command, PACKAGE], cwd=folder, check=True)
    (folder / "main.mjs").write_text(MAIN)
    return folder / "main.mjs"


def ai_sdk() -> Callable[[str, str, list[dict[str, Any]]], Read]:
    ask = asking("node", str(installed()))

    def make(parser: str, dialect: str, tools: list[dict[str, Any]]) -> Read:
        offered = [
            {"type": "function", "name": each["name"], "inputSchema": each["parameters"]}
            for each in (tool["function"] for tool in tools)
        ]

        def read(text: str, reasoned: bool) -> Handed:
            pieces = PIECE.findall(text)
            given = ask({"protocol": PROTOCOLS[parser], "tools": offered, "pieces": pieces})
            calls = [(name, arguments(written)) for name, written in given["calls"]]
            return Handed(given["content"], given["reasoning"], calls, given["raises"])

        return read

    return make
