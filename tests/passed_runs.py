"""A run of the proxy as its ledger has it, with any text in every place that holds a client's or a
provider's."""

from __future__ import annotations

from pathlib import Path

from playground.base.findings import Finding
from playground.plugins.proxy.cache_forecast import Bill, Expected
from playground.plugins.proxy.ledger import FILE, FORMAT, ledger_line


def leave_run(home: Path, text: str) -> None:
    """Three requests of one session, the last of which broke the cache and failed."""
    run = home / "recordings" / "proxy" / "20261122-120000"
    run.mkdir(parents=True)
    lines = [{"format": FORMAT, "at": 1_795_348_800.0, "upstream": "https://api.example"}]
    for number, broken in enumerate((False, False, True), 1):
        expected = Expected(
            session=f"{text} 1",
            title=text,
            number=number,
            provider="anthropic",
            model=text,
            state="hit",
            read=0 if broken else 3_146,
            written=338,
            total=3_796,
            nano=2_100_000,
            reason=text,
            breaks=broken,
            cause="tool-order" if broken else "",
            place=text if broken else "",
            lost=3_146 if broken else 0,
            lost_nano=12_000_000 if broken else None,
            findings=(Finding("tool-order", "warning", text, text),) if broken else (),
        )
        bill = Bill(read=expected.read, written=338, total=3_811, nano=2_200_000)
        began = {"session": expected.session, "title": text, "agent": text, "url": text}
        lines.append({"exchange": number, "at": 1_795_348_800.0 + number, **began, "file": ""})
        lines.append({"exchange": number, "expected": expected.as_json()})
        error = {"error": {"type": text, "message": text}} if broken else {}
        told = {"status": 200, "seconds": 1.1, "billed": bill.as_json()}
        lines.append({"exchange": number, **told, **error})
    (run / FILE).write_text("".join(map(ledger_line, lines)), encoding="utf-8")
