"""llama.cpp's own parsers, built from its sources: what each hands over of a reply.

A parser is made of a template, of which the sources have many (`models/templates`). Only `common`
is built, with `g++`, once for each folder of sources; functions of the rest, which are linked but
never reached, are replaced by ones that abort. The package llama-cpp-python has the sources, below
`vendor/llama.cpp` (`pip download --no-deps --no-binary :all: llama-cpp-python==0.3.36`).
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from typing import Any, Final

from asking import asking
from server_parsers import Handed, Read, arguments

MAIN: Final = r"""
#include "chat.h"
#include "json.h"
#include "nlohmann/json.hpp"
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using json = nlohmann::ordered_json;

static common_chat_params asked(const json & in) {
    std::ifstream file(in["template"].get<std::string>());
    std::stringstream text;
    text << file.rdbuf();
    auto templates = common_chat_templates_init(nullptr, text.str(), "<s>", "</s>");
    common_chat_msg message;
    message.role = "user";
    message.content = "Hi";
    common_chat_templates_inputs inputs;
    inputs.messages = {message};
    inputs.tools = common_chat_tools_parse_oaicompat(common_json::parse(in["tools"].dump()));
    inputs.parallel_tool_calls = true;
    inputs.enable_thinking = in["think"];
    inputs.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
    return common_chat_templates_apply(templates.get(), inputs);
}

int main() {
    std::map<std::string, common_chat_params> known;
    for (std::string line; std::getline(std::cin, line);) {
        json out = {{"content", ""}, {"reasoning", ""}, {"calls", json::array()}, {"raises", ""}};
        try {
            json in = json::parse(line);
            std::string key = in["template"].dump() + in["tools"].dump() + in["think"].dump();
            if (!known.count(key)) known[key] = asked(in);
            const common_chat_params & params = known[key];
            common_chat_parser_params how(params);
            how.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
            if (!params.parser.empty()) how.parser.load(params.parser);
            auto said = common_chat_parse(in["text"].get<std::string>(), false, how);
            out["content"] = said.content;
            out["reasoning"] = said.reasoning_content;
            for (auto & call : said.tool_calls) {
                out["calls"].push_back({call.name, call.arguments});
            }
        } catch (const std::exception & error) {
            out["raises"] = error.what();
        }
        std::cout << out.dump() << std::endl;
    }
}
"""
SOURCES: Final = (
    *("chat*.cpp", "peg-parser.cpp", "json*.cpp", "jinja/*.cpp", "parsers/*.cpp", "unicode.cpp"),
    *("log.cpp", "trie.cpp", "common.cpp"),
)
FOLDERS: Final = ("common", "include", "ggml/include", "vendor", ".")
TEMPLATES: Final = {
    "hermes": "Qwen-Qwen3-0.6B",
    "glm": "GLM-4.6",
    "apertus": "Apertus-8B-Instruct",
    "hy3": "tencent-Hy3",
    "kimi-k2": "Kimi-K2-Instruct",
    "deepseek-v3.1": "deepseek-ai-DeepSeek-V3.1",
    "lfm2": "LFM2-8B-A1B",
    "minimax-m3": "MiniMax-M3",
    "minicpm5": "openbmb-MiniCPM5-1B",
    "qwen3-coder": "Qwen3.5-4B",
    "mistral": "mistralai-Ministral-3-14B-Reasoning-2512",
    "gemma4": "google-gemma-4-31B-it",
}
"""A template of each dialect that a declared parser reads."""
PROMPTED: Final = ("qwen3-coder", "deepseek", "minicpm5")
"""Parsers with templates whose prompts open reasoning where it is asked for."""


def built(sources: Path) -> Path:
    """Build the program that runs the parsers of these sources, unless it is there; return its
    path."""
    if which("g++") is None:
        sys.exit("no g++ on the path")
    if not (sources / "common" / "chat.cpp").is_file():
        sys.exit(f"no sources of llama.cpp, with common/chat.cpp: {sources}")
    digest = hashlib.sha256(f"{sources.resolve()} {MAIN}".encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"playground-llama-cpp-{digest}"
    program = folder / "reads"
    if program.exists():
        return program
    folder.mkdir(exist_ok=True)
    (folder / "main.cpp").write_text(MAIN)
    files = [folder / "main.cpp"]
    files += [file for names in SOURCES for file in sorted((sources / "common").glob(names))]
    with ThreadPoolExecutor(2) as workers:
        objects = list(workers.map(lambda file: _compiled(file, sources, folder), files))
    _run("g++", *objects, _stand_ins(objects, folder), "-o", program, "-lpthread")
    return program


def _compiled(file: Path, sources: Path, folder: Path) -> Path:
    made = folder / f"{file.parent.name}-{file.stem}.o"
    includes = [f"-I{sources / name}" for name in FOLDERS]
    _run("g++", "-std=c++17", "-O0", "-w", *includes, "-c", file, "-o", made)
    return made


def _stand_ins(objects: list[Path], folder: Path) -> Path:
    """Compile functions that abort, for all names that the linker lacks because they are not
    built."""
    lacking = set(_run("nm", "-u", *objects).replace(" U ", " ").split())
    lines = _run("nm", "--defined-only", *objects).splitlines()
    owned = {line.split()[-1] for line in lines if line}
    words = ("llama", "ggml", "gguf", "common_")
    names = sorted(n for n in lacking - owned if any(w in n for w in words) and n.isidentifier())
    text = "".join(f"void {name}(void) {{ abort(); }}\n" for name in names)
    (folder / "absent.c").write_text(f"#include <stdlib.h>\n{text}")
    _run("gcc", "-w", "-c", folder / "absent.c", "-o", folder / "absent.o")
    return folder / "absent.o"


def _run(*command: str | Path) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return done.stdout


def llama_cpp(sources: Path) -> Callable[[str, str, list[dict[str, Any]]], Read]:
    ask = asking(str(built(sources)))

    def make(parser: str, dialect: str, tools: list[dict[str, Any]]) -> Read:
        file = sources / "models" / "templates" / f"{TEMPLATES[dialect]}.jinja"

        def read(text: str, reasoned: bool) -> Handed:
            asked = {"template": str(file), "tools": tools, "think": reasoned, "text": text}
            given = ask(asked)
            calls = [(name, arguments(written)) for name, written in given["calls"]]
            return Handed(given["content"], given["reasoning"], calls, given["raises"])

        return read

    return make
