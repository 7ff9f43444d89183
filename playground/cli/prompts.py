"""Commands that show a session as dialects write it: samples, render, compare, carry, raw …"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from playground.base.arguments import with_older_keys
from playground.cli.command import command
from playground.cli.shared import (
    PRINTED,
    check_option,
    csv_option,
    dialects_option,
    force_option,
    in_dialects,
    json_option,
    ledger_option,
    load,
    model_option,
    out_option,
    preflight,
    rules_option,
    session_argument,
    strict_option,
    tools_of,
    tools_option,
)
from playground.cli.terminal import (
    emit,
    failed,
    guarded,
    json_text,
    print_json,
    progress_bar,
    report,
    say,
    show_rows,
)

if TYPE_CHECKING:
    from playground.base.findings import Finding
    from playground.dialects.raw_prompts.llama import ToolFormat
    from playground.questions.comparison import Column


@command("samples", "samples --csv")
@csv_option
@json_option
@guarded
def samples(as_json: bool) -> int:
    """List the sample sessions and the purpose of each."""
    from playground.sessions.loading import sample_sessions
    from playground.show.rows import rows_of

    loaded = sample_sessions()
    if as_json:
        print_json([{"name": name, "purpose": s.purpose} for name, s in loaded.items()])
    else:
        cells = [(name, session.purpose) for name, session in loaded.items()]
        show_rows(rows_of("name purpose", cells))
    return 0


@command("dialects", "dialects --csv")
@csv_option
@json_option
@guarded
def dialects(as_json: bool) -> int:
    """List the dialects: who speaks each, the role of results, and if a reply may hold many calls.

    `playground guide NAME` explains one of them.
    """
    from playground.dialects import dialect_findings, dialect_names, get_dialect
    from playground.show.rows import rows_of

    chosen = [get_dialect(name) for name in dialect_names()]
    cells = [
        (
            dialect.name,
            getattr(dialect, "result_role", ""),  # dialects written by hand may lack it
            getattr(dialect, "parallel", None),
            getattr(dialect, "models", ""),
        )
        for dialect in chosen
    ]
    listed = rows_of("dialect result_role parallel_calls models", cells)
    if as_json:
        print_json(listed.dicts())
    else:
        show_rows(listed)
    return report(dialect_findings())


@command(
    "render 02-parallel-calls -d qwen3-coder",
    "render session.json -d xml -d hermes --out requests.txt",
)
@session_argument
@dialects_option()
@model_option
@rules_option
@ledger_option
@out_option(PRINTED)
@force_option
@strict_option
@json_option
@guarded
def render(
    session: str,
    dialects: tuple[str, ...],
    model: str,
    rules: str | None,
    ledger: str,
    out: str,
    force: bool,
    as_json: bool,
) -> int:
    """Print the request that SESSION becomes in each dialect: each message below a line with its
    role.

    A file or a pipe gets the exact characters as UTF-8, with no line break after the last message
    (half of a surrogate pair becomes its three bytes). On a terminal, control and invisible
    characters are escaped, and a line says so. Programs should use --json.
    """
    from playground.questions.comparison import compare as compare_session

    loaded = load(session, model)
    checks = preflight(ledger)
    with_checks = [dialect.with_preflight(*checks) for dialect in in_dialects(dialects, rules)]
    comparison = compare_session(loaded.session, with_checks)
    findings = [*loaded.findings]
    for column in comparison.columns:
        findings += column.findings
    if as_json:
        from playground.show.wire import column_json

        text = json_text([column_json(column) for column in comparison.columns]) + "\n"
    else:
        text = _requests(comparison.columns)
    emit(text, out, inputs=[session], force=force)
    return report(findings)


def _requests(columns: Sequence[Column]) -> str:
    """Return the requests of all dialects as a text, each message below a heading."""
    from playground.dialects.rendering import message_text

    parts = []
    for column in columns:
        if len(columns) > 1:
            parts.append(f"##### {column.dialect.name}")
        if column.rendering.tools:
            parts.append(f"=== tools\n{json_text(column.rendering.tools)}")
        for message in column.rendering.messages:
            parts.append(f"=== {message['role']}\n{message_text(message)}")
    return "\n".join(parts)


@command("compare 03-long-file --tokens", "compare session.json -d xml -d native --check")
@session_argument
@dialects_option("all")
@click.option(
    "--tokens",
    is_flag=True,
    help="Count tokens too, offline, of each request as Chat Completions takes it.",
)
@model_option
@rules_option
@check_option
@csv_option
@json_option
@guarded
def compare(
    session: str,
    dialects: tuple[str, ...],
    tokens: bool,
    model: str,
    rules: str | None,
    as_json: bool,
) -> int:
    """Count what SESSION becomes in each dialect: messages, characters by kind, findings."""
    from playground.dialects import dialect_findings
    from playground.questions.comparison import compare as compare_session
    from playground.show import rows as answers

    loaded = load(session, model)
    comparison = compare_session(loaded.session, in_dialects(dialects, rules))
    columns = comparison.columns
    with progress_bar("counting") as moved:
        for number, column in enumerate(columns if tokens else (), 1):
            _ = column.tokens  # counted here, and cached
            if moved:
                moved(number, len(columns))
    rows = answers.comparison(comparison, tokens)
    if as_json:
        pairs = zip(rows.dicts(), columns, strict=True)
        print_json([_column_json(row, column) for row, column in pairs])
    else:
        shown = ("dialect", "messages", "characters")
        show_rows(rows, *shown, *(_TOKENS if tokens else ()), "findings")
    left_out = [] if dialects else dialect_findings()
    return report([*loaded.findings, *left_out, *_with_dialects(columns)])


def _with_dialects(columns: Sequence[Column]) -> Iterator[Finding]:
    """Yield each finding of the columns once; its place also names the dialects that have it."""
    dialects: dict[Finding, list[str]] = {}
    for column in columns:
        for finding in column.findings:
            dialects.setdefault(finding, []).append(column.dialect.name)
    for finding, names in dialects.items():
        listed = "every dialect" if len(names) == len(columns) > 1 else ", ".join(names)
        yield replace(finding, where=f"{finding.where}; in {listed}")


_TOKENS = ("tokens", "tokens_kind", "tokens_low", "tokens_high")


def _column_json(row: dict[str, Any], column: Column) -> dict[str, Any]:
    """Return a dialect's row, with its findings in full. The keys `by_kind` and `tokens_range` are
    obsolete; they stay for one more version."""
    from dataclasses import asdict

    older: dict[str, Any] = {"by_kind": column.characters}
    if "tokens" in row:
        older["tokens_range"] = [row["tokens_low"], row["tokens_high"]]
    return {**row, **older, "findings": [asdict(finding) for finding in column.findings]}


@command("carry", "carry -d xml -d hermes")
@dialects_option("all")
@strict_option
@csv_option
@json_option
@guarded
def carry(dialects: tuple[str, ...], as_json: bool) -> int:
    """Try hostile values in each dialect: carried, or refused with a finding."""
    from playground.dialects import dialect_findings
    from playground.questions.carry import carry as carry_values
    from playground.show import rows

    matrix = carry_values(dialects)
    if as_json:
        values_by_dialect = {
            name: {
                "carried": matrix.carried(name),
                "refused": matrix.refused(name),
                "cannot-carry": matrix.refused(name),  # obsolete key, kept for one more version
            }
            for name in matrix.dialects
        }
        print_json(values_by_dialect)
    else:
        show_rows(rows.carry_totals(matrix))
    return report([] if dialects else dialect_findings())


@command("detect reply.txt", "detect reply.txt --tools 02-parallel-calls --json")
@click.argument("file")
@tools_option
@strict_option
@csv_option
@json_option
@guarded
def detect(file: str, tools_file: str, as_json: bool) -> int:
    """Detect the dialect of a reply: FILE holds its text, - is standard input.

    If no dialect sees anything of a call in it, say so; with --strict, exit with 1.
    """
    from dataclasses import asdict

    from playground.base.errors import InputFault
    from playground.base.user_files import as_utf8, decode
    from playground.questions.detection import detect as detect_dialect
    from playground.questions.recognition import recognised_session
    from playground.sessions.file_tail import whole_utf8
    from playground.sessions.loading import file_bytes
    from playground.show import rows

    data = file_bytes(file)
    tools = tools_of(tools_file) if tools_file else []
    session = recognised_session(data, file)
    if session is not None:
        raise InputFault(
            f"this is a session ({session.title})",
            where=file,
            expected="the text of one reply; `playground replay` reads a session's replies",
        )
    text = decode(whole_utf8(as_utf8(data)), file)
    with progress_bar("reading in every dialect") as moved:
        detections = detect_dialect(text, tools, moved)
    shown = detections if detections.dialect else ()
    if as_json:
        print_json(
            [
                {**with_older_keys(asdict(d), text_characters="left"), "reason": d.reason}
                for d in shown
            ]
        )
    elif shown:
        likely = [d for index, d in enumerate(shown) if index == 0 or d.evident > 0]
        show_rows(rows.detections(likely))
    if not shown:
        say(f"no dialect: {detections.reason}", err=True)
    return failed(not shown)


@command(
    "raw 02-parallel-calls --llama 3", "raw 02-parallel-calls --template tokenizer_config.json"
)
@session_argument
@click.option("-t", "--template", default="", help="A .jinja file or a tokenizer_config.json.")
@click.option("--llama", type=click.Choice(["3", "4"]), help="The format of Meta's own code.")
@click.option(
    "--tool-format",
    type=click.Choice(["json", "function_tag", "python_list"]),
    help="With --llama: how custom tools are called. Default: json for 3, python_list for 4.",
)
@out_option(PRINTED)
@force_option
@strict_option
@json_option
@guarded
def raw(
    session: str,
    template: str,
    llama: str | None,
    tool_format: ToolFormat | None,
    out: str,
    force: bool,
    as_json: bool,
) -> int:
    """Print the raw prompt of SESSION: what the model reads, special tokens included.

    A file or a pipe gets the exact characters as UTF-8, with nothing added at the end (half of a
    surrogate pair becomes its three bytes). On a terminal, control and invisible characters are
    escaped, and a line says so.
    """
    from playground.base.errors import InputFault
    from playground.questions.raw_prompt import raw_prompt

    if bool(template) == bool(llama):
        raise InputFault("one format is needed", expected="either --template FILE or --llama 3|4")
    loaded = load(session, "")
    data = loaded.session.prompt_data()
    prompt = raw_prompt(data, template or f"llama{llama}", tool_format)
    text = prompt.text
    if as_json:
        value = {"prompt": prompt.text, "parser": prompt.dialect, "format": prompt.format}
        text = json_text(value) + "\n"
    emit(text, out, inputs=[name for name in (session, template) if name], force=force)
    return report([*loaded.findings, *prompt.findings])
