"""Go's text/template: outputs, faults and their places, bounds; Go's own results where they lie."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from playground.base.errors import InputFault
from playground.plugins.systems.go_templates import TemplateFault, execute

CASES: Final = ROOT.parent / "shared" / "conformance" / "gotemplate_cases.json"
DATA: Final[dict[str, Any]] = {
    "port": "Brest",
    "high": 6.5,
    "berths": 3,
    "free": [1, 2],
    "none": None,
    "tides": [{"at": "05:12"}, {"at": "17:40"}],
    "by-day": {"mon": True},
    "ö": "é",
}


@pytest.mark.parametrize(
    ("template", "output"),
    [
        ("plain", "plain"),
        ("{{.port}} {{- /* trimmed */ -}} \n!", "Brest!"),
        ("a {{- .port -}} b", "aBrestb"),
        ("{{.high}} {{.berths}} {{.none}} {{.nobody}}", "6.5 3 <no value> <no value>"),
        ("{{range $i, $t := .tides}}{{$i}}={{$t.at}};{{end}}", "0=05:12;1=17:40;"),
        ("{{range .tides}}{{.at}}{{break}}{{end}}", "05:12"),
        ("{{range 3}}{{.}}{{end}}", "012"),
        ("{{range .nobody}}x{{else}}nobody{{end}}", "nobody"),
        ("{{with .none}}x{{else with .port}}{{.}}{{end}}", "Brest"),
        ("{{if and .port (not .none)}}yes{{else if .high}}no{{end}}", "yes"),
        ('{{index . "by-day" "mon"}} {{len .ö}} {{slice .port 1 3}}', "true 2 re"),
        (
            '{{define "b"}}[{{.}}]{{end}}{{template "b" .port}}{{block "c" 7}}{{.}}{{end}}',
            "[Brest]7",
        ),
        ("{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}", "2"),
        ('{{printf "%05.1f|%-6s|%q|%v|%T" .high .port .port .free .free}}', None),
        ("{{gt .berths 2.0}} {{eq .port `Brest` `Kiel`}} {{lt (len .free) 3}}", "true true true"),
        ("{{html `<b>`}} {{js `<b>`}} {{urlquery `a b&c`}}", "&lt;b&gt; \\u003Cb\\u003E a+b%26c"),
        ("{{'a'}} {{0x10}} {{1e3}} {{println 1 `a` 2}}", "97 16 1000 1 a 2\n"),
    ],
)
def test_what_a_template_gives(template: str, output: str | None) -> None:
    known = '006.5|Brest |"Brest"|[1 2]|[]interface {}'
    assert execute(template, DATA) == (known if output is None else output)


@pytest.mark.parametrize(
    ("template", "phase", "message"),
    [
        ("\n{{if}}", "parse", "template: t:2: missing value for if"),
        ("{{if .a}}", "parse", "template: t:1: unexpected EOF"),
        ("{{.a-b}}", "parse", "template: t:1: bad character U+002D '-'"),
        ("{{tide}}", "parse", 'template: t:1: function "tide" not defined'),
        ("{{$x}}", "parse", 'template: t:1: undefined variable "$x"'),
        ("{{break}}", "parse", "template: t:1: {{break}} outside {{range}}"),
        (
            "{{.port 1}}",
            "exec",
            'template: t:1:2: executing "t" at <.port>: port is not a method but has arguments',
        ),
        (
            "{{1 | .port}}",
            "exec",
            'template: t:1:6: executing "t" at <.port>: port is not a method but has arguments',
        ),
        (
            "é{{.port.x}}",
            "exec",
            'template: t:1:9: executing "t" at <.port.x>: '
            "can't evaluate field x in type interface {}",
        ),
        (
            "{{eq .berths 3}}",
            "exec",
            'template: t:1:2: executing "t" at <eq .berths 3>: error calling eq: '
            "incompatible types for comparison: float64 and int",
        ),
        (
            "{{.none.x}}",
            "exec",
            'template: t:1:7: executing "t" at <.none.x>: nil pointer evaluating interface {}.x',
        ),
        (
            '{{template "x"}}',
            "exec",
            'template: t:1:11: executing "t" at <{{template "x"}}>: template "x" not defined',
        ),
    ],
)
def test_a_fault_says_where_in_gos_words(template: str, phase: str, message: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        execute(template, DATA)
    assert (caught.value.phase, str(caught.value)) == (phase, message)


# written by Go 1.27.3 itself (benchmarks/templates_against_go.py)
AS_GO_WRITES = [
    ('{{printf "%.0T|%.3T|%.9T" 1.5 true .free}}', "|boo|[]interfa"),
    (r'{{js "\x7f\u2028 🫨" "\377"}}', "\x7f\\u2028 🫨\ufffd"),
    (r'{{printf "%#.3v|%#q|%#q" .port "a\u2028" "a\n"}}', '"Bre"|`a\u2028`|"a\\n"'),
    (
        '{{printf "%#.3g|%#g|%#.0e|%#x|%#.0w" 1e-9 1e6 2.5 1.5 1e-9}}',
        "1.00e-09|1.00000e+06|2.e+00|0x1.8000p+00|%!w(float64=1e-09)",
    ),
    (
        '{{printf "%.0x|%.2x|%x|%.1X|%x" 3.0 1e6 0.1 255.0 5e-324}}',
        "0x1p+02|0x1.e8p+19|0x1.999999999999ap-04|0X1.0P+08|0x1p-1074",
    ),
    ('{{printf "%08.3f|%v|%+g" .1i 2+3i 1.5}}', "(0000.000+000.100i)|(2+3i)|+1.5"),
    ('{{printf "%.40g" 3.14}}', "3.140000000000000124344978758017532527447"),
    ('{{printf "%v %v %T" -0x6873E0 0x6873E0 -0xF}}', "-6.845408e+06 6845408 int"),
    ('{{printf "%99999999d" 1}}', "%!(NOVERB)%!(EXTRA int=1)"),
    ('{{printf "%.*d|%*d" -1 5 "a" 6}}', "%!(BADPREC)5|%!(BADWIDTH)6"),
    ('{{printf "%+03w|%w" 2.5 .free}}', "%!w(float64=2.5)|%!w([]interface {}=[1 2])"),
    ('{{printf "%#O|%O|%#o" 8 8 8}}', "0o010|0o10|010"),
    ('{{printf "%[x]d" 1}}|{{printf "%[2]d %[]" 1 2}}', "%!d(BADINDEX)|2 %!](BADINDEX)"),
    ('{{printf "%5." 1}}', "%!.(int=    1)"),
    ('{{printf "%+q|%+q|%#U" 0x7f 0x80 0x1FAE8}}', r"'\x7f'|'\u0080'|U+1FAE8 '🫨'"),
    (
        "{{slice .three 0 4}} {{slice (slice .three 0 1) 0 3}} {{slice .three 0 1 1}}",
        "[1 2 3 <nil>] [1 2 3] [1]",
    ),
    ("{{0x1Fi}}", 'template: t:1: illegal number syntax: "0x1Fi"'),
    ("{{0o}}", 'template: t:1: illegal number syntax: "0o"'),
    ("{{-0x.p0}}", 'template: t:1: illegal number syntax: "-0x.p0"'),
    ("{{slice .", 'template: t:1: illegal number syntax: "."'),
    ("{{1+i}}", "template: t:1: syntax error scanning complex number"),
    ("{{+3i+3i}}", "template: t:1: syntax error scanning complex number"),
    ("{{-i+2i}}", 'template: t:1: strconv.ParseFloat: parsing "-i": invalid syntax'),
    ("{{0x1F+2i}}", 'template: t:1: strconv.ParseFloat: parsing "0x1F": invalid syntax'),
    ("{{1e400+1i}}", 'template: t:1: strconv.ParseFloat: parsing "1e400": value out of range'),
    ("{{+9223372036854775808}}", 'template: t:1: integer overflow: "+9223372036854775808"'),
    (
        r'{{"\377" | call}}',
        'template: t:1:11: executing "t" at <call>: '
        "error calling call: non-function \ufffd of type string",
    ),
    (
        "{{slice .three 4}}",
        'template: t:1:2: executing "t" at <slice .three 4>: '
        "error calling slice: invalid slice index: 4 > 3",
    ),
]


@pytest.mark.parametrize(("template", "written"), AS_GO_WRITES)
def test_what_go_writes_in_the_corners(template: str, written: str) -> None:
    data = {"port": "Brest", "free": [1, 2], "three": [1, 2, 3]}
    try:
        found = execute(template, data)
    except TemplateFault as fault:
        found = str(fault)
    assert found == written


def test_a_fault_keeps_what_was_written_and_hints_at_the_surprise() -> None:
    with pytest.raises(TemplateFault) as caught:
        execute("first {{.port}} {{eq .berths 3}}", DATA)
    assert caught.value.partial == "first Brest "
    assert "write 3.0" in caught.value.hint
    with pytest.raises(TemplateFault) as caught:
        execute("{{.by-day}}", DATA)
    assert caught.value.hint == 'a key with a dash needs index: {{index . "a-b"}}'


def test_a_missing_key_is_an_error_where_that_is_asked_for() -> None:
    assert execute("{{.x.y}}", {}) == "<no value>"
    assert execute("{{.x}}", {}, missingkey="zero") == "<no value>"
    with pytest.raises(TemplateFault, match='map has no entry for key "x"'):
        execute("{{.x}}", {}, missingkey="error")


@pytest.mark.parametrize(
    "template",
    [
        '{{define "a"}}x{{template "a"}}{{end}}{{template "a"}}',
        "{{range 1000000}}{{range 1000000}}{{end}}{{end}}",
        "{{$x := `aaaaaaaaaa`}}{{range 60}}{{$x = print $x $x}}{{end}}",
        "{{range 100000}}{{printf `%900d` .}}{{end}}",
        "{{printf `%999999999d` 1}}{{range 100000}}{{printf `%*d` 900000 1}}{{end}}",
        "{{" + "(" * 20_000 + "1" + ")" * 20_000 + "}}",
        "{{if 1}}" * 5_000 + "{{end}}" * 5_000,
    ],
)
def test_a_template_that_does_not_end_is_one_clear_error(template: str) -> None:
    with pytest.raises(TemplateFault):
        execute(template, {})


def test_data_that_is_no_json_is_one_clear_error() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    for data, said in ((deep, "nested too deeply"), (10**400, "float64"), ({1}, "type set")):
        with pytest.raises(InputFault, match=said):
            execute("{{.}}", data)


def test_half_characters_are_told_and_never_break_the_output() -> None:
    assert execute("{{len .}}", "\ud800") == "3"  # U+FFFD, as Go decodes it
    assert execute("{{slice . 0 1}}|{{slice . 0 1}}{{slice . 1}}", "é") == "\ufffd|é"
    with pytest.raises(TemplateFault, match="t:1:7") as caught:
        execute("\ud800{{.a.b}}", {"a": "b"})
    caught.value.partial.encode()


_PIECES: Final = st.sampled_from(
    [
        "{{", "}}", "{{-", "-}}", " ", "\n", "if ", "else", "end", "range ", "with ", "define ",
        "template ", "block ", "break", "$x", "$", ":=", "=", ",", "|", "(", ")", ".", ".a", ".b.c",
        '"s"', "`r`", "'c'", "1", "2.5", "-1", "0x1p2", "1i", "nil", "true", "and", "or", "not",
        "eq", "lt", "len", "index", "slice", "print", "printf", '"%v %d %q %5.2f"', "html", "js",
        "/*", "*/", "é", "\x00", "\ud800", "call", "urlquery", "{{end}}", "{{else}}", "{{.}}",
    ]
)  # fmt: skip
_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(pieces=st.lists(_PIECES, max_size=14), data=_VALUES)
def test_any_text_gives_text_or_a_fault_and_the_same_again(pieces: list[str], data: Any) -> None:
    source = "".join(pieces)
    results = []
    for _ in range(2):
        try:
            results.append(execute(source, data))
        except TemplateFault as fault:
            results.append(f"{fault.phase} {fault} {fault.partial}")
    assert results[0] == results[1]
    results[0].encode()


@given(text=st.text(max_size=30).filter(lambda text: "{{" not in text))
def test_text_without_actions_is_itself(text: str) -> None:
    assert execute(text, None) == text


@pytest.mark.skipif(
    not CASES.exists(), reason="NOT RUN: ../shared/conformance is not beside this checkout"
)
def test_every_result_is_gos_own() -> None:
    scorer = CASES.with_name("score_templates.py")
    done = subprocess.run(
        [sys.executable, str(scorer), "--json"], capture_output=True, text=True, check=True
    )
    count = json.loads(done.stdout)
    assert count["output right"] == count["outputs"] == 960
    assert count["error phase right"] == count["errors"] == 547
    assert count["error text right"] >= 545
    assert count.get("raised something else", 0) == 0
