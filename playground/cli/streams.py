"""Commands about streamed replies: replay one, record one."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import click

from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.cli.command import command
from playground.cli.shared import (
    csv_option,
    force_option,
    in_dialects,
    json_option,
    ledger_option,
    load,
    load_streamed,
    out_option,
    parameter_option,
    parameters_of,
    preflight,
    rules_option,
    session_or_option,
    strict_option,
    tools_option,
)
from playground.cli.terminal import (
    CSV,
    emit,
    failed,
    guarded,
    is_set,
    json_text,
    print_json,
    report,
    say,
    show_rows,
    stopping,
    tell_starred_secrets,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playground.base.findings import Finding
    from playground.llm.record import Recorded
    from playground.nouns.tools import ToolMetadata
    from playground.parsing.result import ParseResult
    from playground.parsing.switches import Switches
    from playground.questions.timeline import Timeline
    from playground.recordings.append_only_file import AppendOnlyFile
    from playground.recordings.recording import Recording
    from playground.sessions.loading import LoadedSession


@command("replay 05-call-in-a-fence --events", "replay 09-reasoning --server vllm")
@click.argument("recording")
@click.option("-d", "--dialect", default="", help="Default: the recording's own.")
@click.option("--name", default="", help="Name of a recording in the file. Default: the first.")
@tools_option
@click.option("--events", "with_events", is_flag=True, help="List every event.")
@click.option(
    "--server",
    "servers",
    multiple=True,
    help="Show also what NAME or NAME:PARSER hands to its client; may be repeated.",
)
@click.option(
    "--switch",
    "switches",
    multiple=True,
    metavar="NAME=VALUE",
    help="A switch of the parser, such as calls_in_fences=call; may be repeated.",
)
@click.option("--report", "reported", default="", help="Write a report to this server's authors.")
@strict_option
@csv_option
@json_option
@guarded
def replay(
    recording: str,
    dialect: str,
    name: str,
    tools_file: str,
    with_events: bool,
    servers: tuple[str, ...],
    switches: tuple[str, ...],
    reported: str,
    as_json: bool,
) -> int:
    """Replay RECORDING through a parser.

    RECORDING is a raw stream, a reply's text, or a session file. The answers of a session without
    recordings are streamed again. `-` reads standard input. If neither -d nor the recording names
    a dialect, the reply is read in the likeliest one.
    """
    from playground.questions.fast_detection import dialect_for_server
    from playground.questions.timeline import dialect_of
    from playground.questions.timeline import replay as replay_recording
    from playground.show import rows

    loaded = load_streamed(recording, dialect, tools_file)
    chosen = loaded.session.recording(name) if name else loaded.session.recordings[0]
    file_findings = _file_findings(loaded, chosen, is_named=bool(name))
    tools, chosen_dialect = loaded.session.tools, dialect or chosen.dialect
    if reported:
        if servers or with_events or switches:
            raise InputFault(
                "--report shortens the reply, so it cannot be combined with other output",
                expected="--report without --server, --events and --switch",
            )
        status = _print_report(chosen, chosen_dialect, reported, tools, as_json)
        return max(status, report(file_findings))
    if as_json and len(servers) > 1:
        raise InputFault(f"{len(servers)} servers, and --json", expected="one server")
    timelines = []
    for server in servers or ("",):
        read_as = dialect or dialect_for_server(server, chosen, tools)
        own = _switches(switches, read_as or dialect_of(chosen, tools)) if switches else None
        timelines.append(replay_recording(chosen, read_as, tools, own, server))
    timeline, result = timelines[0], timelines[0].result
    readings = [each.server for each in timelines if each.server is not None]
    server_findings = [finding for reading in readings for finding in reading.server_findings]
    unread = any(finding.code == "no-dialect" for finding in file_findings)
    file_findings += _foreign_findings(timeline, tools)
    findings = [*file_findings, *result.findings, *chosen.findings]
    if as_json:
        print_json(_replay_json(loaded, chosen, timeline, findings))
    elif is_set(CSV):
        show_rows(rows.timeline(timeline))
    else:
        _print_head(chosen, timeline, unread)
        _print_result(result, with_events, chosen.error)
        _print_servers(timelines, with_events)
    return report([*findings, *server_findings])


def _switches(assignments: Sequence[str], dialect: str) -> Switches:
    """Return a dialect's switches (by default the first's) as changed. Raises UnknownNameError."""
    from playground.base.errors import UnknownNameError
    from playground.dialects import dialect_names, get_dialect
    from playground.nouns.prompt_data import PromptData
    from playground.parsing.switches import Switches

    values = {name: [*get_args(kind)] for name, kind in get_type_hints(Switches).items()}
    switches = get_dialect(dialect or dialect_names()[0]).create_parser(PromptData()).switches
    for name, _, value in (each.partition("=") for each in assignments):
        if name not in values:
            raise UnknownNameError("switch", name, [*values])
        if value not in values[name]:
            raise UnknownNameError(f"value of {name}", value, values[name])
        switches = replace(switches, **{name: value})  # type: ignore[arg-type]
    return switches


def _replay_json(
    loaded: LoadedSession, chosen: Recording, timeline: Timeline, findings: Sequence[Finding]
) -> dict[str, Any]:
    from playground.show import rows
    from playground.show.wire import timeline_json

    return {
        **timeline_json(timeline),
        "rows": rows.timeline(timeline).dicts(),
        "usage": chosen.usage,
        "diagnostics": chosen.diagnostics,
        "recordings": [each.name for each in loaded.session.recordings],
        "findings": [asdict(finding) for finding in findings],
    }


def _print_head(chosen: Recording, timeline: Timeline, unread: bool) -> None:
    """Print the recording's name and dialect, and the provider's diagnosis of its cache."""
    from playground.cache.diagnosis import diagnosis_of

    say(
        f"{timeline.recording}: {counted(len(chosen.chunks), 'chunk')}, timing {timeline.timing}, "
        + ("unread" if unread or not timeline.dialect else f"read as {timeline.dialect}")
    )
    if chosen.note:
        say(chosen.note)
    if chosen.diagnostics and (diagnosis := diagnosis_of(chosen.diagnostics)):
        say(f"the provider's diagnosis of its cache: {diagnosis}")


def _file_findings(loaded: LoadedSession, recording: Recording, is_named: bool) -> list[Finding]:
    """Return findings about the file's text; and if the recording is not chosen by its name
    (`is_named`), one finding about the file's other recordings."""
    from playground.base.findings import finding

    codes = ("no-dialect", "wrapped-body", "unknown-json")
    findings = [each for each in loaded.findings if each.code in codes]
    recordings = loaded.session.recordings
    if len(recordings) > 1 and not is_named:
        other_name = next(each.name for each in recordings if each.name != recording.name)
        message = f"this is 1 of {len(recordings)} recordings; another: --name {other_name!r}"
        findings.append(finding("more-recordings", recording.name, message))
    return findings


def _foreign_findings(timeline: Timeline, tools: Sequence[ToolMetadata]) -> list[Finding]:
    """Return a finding if only another dialect reads calls in the timeline's text. Return [] if
    the reply has such a finding already."""
    from playground.questions.detection import foreign_finding
    from playground.questions.fast_detection import likeliest

    result = timeline.result
    is_found = any(finding.code == "foreign-markup" for finding in result.findings)
    if result.tool_calls or result.aborted or is_found:
        return []
    best = likeliest(timeline.text, tools)
    foreign = foreign_finding([best[0]], timeline.dialect) if best else None
    return [foreign] if foreign else []


def _print_servers(timelines: Sequence[Timeline], with_events: bool) -> None:
    """Print each server's reading, and its dialect if that differs from the first server's."""
    for timeline in timelines:
        if (reading := timeline.server) is None:
            continue
        hands = "is assumed, not known, to hand over" if reading.assumed else "hands over"
        read_as = (
            f", read as {timeline.dialect}" if timeline.dialect != timelines[0].dialect else ""
        )
        say(
            f"\n##### what {reading.name} {hands}\n"
            f"of a {reading.reads}, by {reading.view.source}{read_as}"
        )
        _print_result(reading, with_events)


def _print_result(result: ParseResult, with_events: bool, error: object = None) -> None:
    from playground.servers.segments import segments
    from playground.show import rows

    for part in ("reasoning", "content"):
        if getattr(result, part).strip():
            say(f"=== {part}")
            emit(getattr(result, part).strip() + "\n")
    for call in result.tool_calls:
        say(f"=== call {call.name}\n{json_text(call.arguments, indent=None)}")
    for segment in segments(result.events):
        if (aborted := segment.aborted) is not None:
            say(f"=== aborted call {aborted.name or '(unnamed)'}: {aborted.reason}")
            if result.switches.broken_calls != "text":
                emit(segment.text.strip() + "\n")
    if error is not None:
        say(f"=== error {json_text(error, indent=None)}")
    if with_events:
        show_rows(rows.events(result.events))


def _print_report(
    recording: Recording, dialect: str, server: str, tools: Sequence[ToolMetadata], as_json: bool
) -> int:
    """Print the smallest reply from which the server loses something. With --strict, return 1 for a
    loss."""
    from playground.base.wording import fenced
    from playground.questions.server_report import server_report

    if not dialect:
        raise InputFault("the dialect is not known", where=recording.name, expected="-d NAME")
    loss = server_report(recording, dialect, server, tools)
    if as_json:
        print_json({"text": loss.text, "test": loss.test, "issue": loss.issue})
    elif not loss.issue:
        unread = any(found.code == "unread-dialect" for found in loss.findings)
        how = "as text, unread" if unread else f"read as {loss.dialect}"
        hands = "is assumed to hand over" if loss.reading.assumed else "hands over"
        say(f"{loss.server} {hands} all of {recording.name}, {how}")
    else:
        emit(loss.issue + (f"\nA test:\n\n{fenced(loss.test)}" if loss.test else "") + "\n")
    return max(report(loss.findings), failed(bool(loss.issue)))


@command(
    "record 02-parallel-calls -d hermes --model openai/demo-hermes "
    "--base-url http://127.0.0.1:8765/v1",
    "record session.json --model anthropic/claude-sonnet-4-5 -o answer.jsonl",
)
@session_or_option(required=True)
@click.option("-d", "--dialect", default="native", help="The dialect of the request.")
@click.option("--model", required=True, help="As LiteLLM names it: provider/model.")
@click.option(
    "--base-url", default="", help="An OpenAI-compatible server, such as that of `demo-server`."
)
@out_option("Default: DIALECT-MODEL.jsonl, or with a number.")
@force_option
@parameter_option
@rules_option
@ledger_option
@click.option("--scrub-emails", is_flag=True, help="Star out e-mail addresses too.")
@click.option("--timeout", default=600.0, help="Seconds for the whole answer.")
@click.option("--stall", default=120.0, help="Longest time without a byte, in seconds.")
@click.option("--limit", default=1024.0, metavar="MEGABYTES", help="Largest answer.")
@strict_option
@json_option
@guarded
def record(
    session: str,
    dialect: str,
    model: str,
    base_url: str,
    out: str,
    force: bool,
    parameters: tuple[str, ...],
    rules: str | None,
    ledger: str,
    scrub_emails: bool,
    timeout: float,
    stall: float,
    limit: float,
    as_json: bool,
) -> int:
    """Send SESSION in a dialect through LiteLLM and record the raw bytes of the answer.

    Keys are taken from the environment and never written. The file grows while the answer comes;
    Ctrl-C, SIGTERM and SIGHUP stop, and keep what has come (exit status 130, 143, 129).
    """
    from playground.llm.completion_arguments import merge_parameters
    from playground.llm.record import Limits
    from playground.llm.record import record as record_answer

    loaded = load(session, model)
    (chosen,) = in_dialects([dialect], rules)
    rendering = chosen.with_preflight(*preflight(ledger)).render(loaded.session.prompt_data())

    def show_text(count: int, text: str) -> None:
        if not as_json:
            say(text, err=True, nl=False)

    settings = merge_parameters(
        loaded.session.parameters, parameters_of(parameters), rendering.tools
    )
    file = _recording_file(out, f"{dialect}-{model.replace('/', '-')}.jsonl", session, force)
    with stopping() as stop:
        recorded = record_answer(
            rendering.messages,
            model,
            tools=rendering.tools or (),
            name=f"{Path(session).stem} {dialect}",
            dialect=dialect,
            base_url=base_url,
            parameters=settings,
            emails=scrub_emails,
            limits=Limits(timeout, stall, limit * 1_048_576),
            out=file,
            progress=show_text,
            cancel=stop.event,
        )
    if out and file.path != Path(out).resolve():
        say(f"playground: the answer is a refusal; {out} is as it was", err=True)
    _print_recorded(recorded, file.path, as_json)
    return report(recorded.recording.findings) if stop.number is None else 128 + stop.number


def _recording_file(out: str, name: str, session: str, force: bool) -> AppendOnlyFile:
    """Return the file for the recording; without -o, a new one: `name`, or `name` and a number."""
    from playground.base.output import Batch
    from playground.recordings.append_only_file import AppendOnlyFile, create_numbered

    if not out:
        return create_numbered(Path(name))
    Batch(inputs=[session], force=force).check(out)
    return AppendOnlyFile(out, force=force)


def _print_recorded(recorded: Recorded, path: Path, as_json: bool) -> None:
    from playground.show.wire import recording_json

    recording = recorded.recording
    if as_json:
        file_facts = {"file": str(path), "starred": recorded.starred, "whole": recorded.whole}
        print_json({**file_facts, **recording_json(recording)})
    else:
        say("", err=True)
        end = recording.stop_reason or "no end"
        count = (
            counted(len(recording.chunks), "chunk") if recorded.whole else "too long to be counted"
        )
        say(f"{path}: {recording.api}, {count}, {end}")
        tell_starred_secrets(recorded.starred)
