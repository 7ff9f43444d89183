"""The proxy's report on a terminal: a line for each request, and a line when its answer has
ended."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from playground.base.wording import counted, dollars, seconds
from playground.recordings.scrubbing import describe_stars


@dataclass
class TerminalReport:
    """A report that turns lines of the ledger into lines to print, with a summary at the end."""

    _names: dict[int, str] = field(default_factory=dict)
    _expected: dict[int, dict[str, Any]] = field(default_factory=dict)
    _costs: Counter[str] = field(default_factory=Counter)  # billionths of a dollar, by cause
    _breaks: Counter[str] = field(default_factory=Counter)
    _sums: Counter[str] = field(default_factory=Counter)
    _starred: dict[str, int] | None = None  # starred-out secrets; set at the end

    def lines(self, line: dict[str, Any]) -> Iterator[str]:
        """Yield the lines to print for one line of the ledger."""
        if "fault" in line and "exchange" not in line:
            yield f"fault: {line['fault']}"
            return
        if "starred" in line:
            self._starred = line["starred"]
        if "kept" in line:
            yield f"in the workspace: {line['kept']}"
        number = line.get("exchange")
        if not isinstance(number, int):
            return
        if "file" in line:
            yield from self._request_lines(number, line)
        if "seconds" in line:
            yield from self._answer_lines(number, line)

    def summary(self) -> Iterator[str]:
        """Yield lines that sum up requests, starred-out secrets, and the cache breaks by cause."""
        if self._starred is not None:
            yield describe_stars(self._starred)
        sums = self._sums
        if not sums["requests"]:
            return
        yield f"{counted(sums['requests'], 'request')}, {counted(sums['billed'], 'bill')}: " + (
            f"read {sums['read']:,} of {sums['total']:,} tokens billed, "
            f"{sums['predicted']:,} predicted"
        )
        for cause, number in self._breaks.most_common():
            price = f", about {dollars(self._costs[cause] / 1e9)}" if self._costs[cause] else ""
            yield f"  {cause}: {counted(number, 'break')}{price}"

    def _request_lines(self, number: int, line: dict[str, Any]) -> Iterator[str]:
        clock = time.strftime("%H:%M:%S", time.localtime(line.get("at") or 0))
        expected = line.get("expected")
        if expected is None:
            self._names[number] = name = line["url"].partition("://")[2] or f"exchange {number}"
            yield f"{clock} {name}"
            return
        self._names[number] = name = f"{expected['session']} #{expected['number']}"
        self._expected[number] = expected
        yield f"{clock} {name}: {prediction_line(expected)}"
        for finding in expected["findings"]:
            yield f"         {finding['severity']} {finding['code']}: {finding['message']}"
        if line.get("blocked"):
            yield f"         blocked: {line['blocked']}"
            del self._expected[number]
            return
        self._sums["requests"] += 1

    def _answer_lines(self, number: int, line: dict[str, Any]) -> Iterator[str]:
        name = self._names.pop(number, f"exchange {number}")
        expected = self._expected.pop(number, None)
        if expected and expected["breaks"] and (line.get("status") or 0) < 400:
            self._breaks[expected["cause"]] += 1  # only now, as a refused request costs nothing
            self._costs[expected["cause"]] += expected["lost_nano"] or 0
        billed = line.get("billed")
        outcome = f"{line.get('status') or 'no answer'} in {seconds(line.get('seconds', 0))}"
        if billed is not None:
            yield f"         {name}: billed {bill_line(billed, expected)}; {outcome}"
            if expected is not None and not billed["summed"]:
                self._sums += Counter(
                    billed=1, read=billed["read"], total=billed["total"], predicted=expected["read"]
                )
        else:
            yield f"         {name}: {outcome}"
        if diagnosis := line.get("told_by_provider"):
            yield f"         {name}: the provider's diagnosis: {diagnosis}"
        if words := line.get("disagrees"):
            yield f"         {name}: diagnosis-disagrees: {words}"
        for key in ("error", "fault"):
            if (error := line.get(key)) and (text := _error_text(error)):
                yield f"         {name}: {text}"


def prediction_line(expected: dict[str, Any]) -> str:
    """Return a line about a request's predicted reads, and the cause of a predicted cache break."""
    if expected["state"] == "error":
        return f"the provider refuses it: {expected['reason']}"
    if expected["state"] == "unknown-provider":
        return f"~{expected['total']:,} tokens at the full price: {expected['reason']}"
    doubts = {"eligible": ", which is not guaranteed", "unpredictable": ", perhaps"}
    about = "" if expected["sized"] else "~"
    text = f"read {about}{expected['read']:,} of ~{expected['total']:,} expected"
    text += doubts.get(expected["state"], "")
    if not expected["breaks"]:
        return text
    where = f" at {expected['place']}" if expected["place"] else ""
    price = (
        "" if expected["lost_nano"] is None else f", about {dollars(expected['lost_nano'] / 1e9)}"
    )
    return f"{text}; breaks{where}: {expected['cause']}{price}"


def bill_line(billed: dict[str, Any], expected: dict[str, Any] | None) -> str:
    """Return a line with the billed tokens and price, and the expected price."""
    text = f"read {billed['read']:,} of {billed['total']:,}, wrote {billed['written']:,}"
    if billed["nano"] is not None:
        text += f", {dollars(billed['nano'] / 1e9)}"
        if expected is not None and expected["nano"] is not None:
            text += f" (expected {dollars(expected['nano'] / 1e9)})"
    return text + (", summed over rounds on the server" if billed["summed"] else "")


def _error_text(error: Any) -> str:
    return str(error.get("message") or error) if isinstance(error, dict) else str(error)
