"""Numbers are written in one way: by Python, by the browser, in tables."""

from __future__ import annotations

import re
from itertools import chain

import pandas as pd
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from playground.base.wording import counted, dollars, grouped, percent, seconds

VALUES = [
    *(0, 1, -1, 0.5, 1.5, 2.5, 0.05, 0.0004, 0.9994, 0.9995, 0.9996, 1.04, 1.05, 1.25, 1.35, 2.675),
    *(1.005, 59.96, 99.94, 99.95, 99.96, 100, 100.5, 101.5, 999, 999.5, 1000, 1234.5, 2309, 1e6),
    *(5_100_000, 12345678.9, 0.1 + 0.2, 1 / 3, 2 / 3, 1e-7),
]
KIT = ROOT / "playground" / "show" / "components" / "kit.js"
OWN = re.compile(
    r"[^{}]?\{[^{}\n]*:[^{}\n]*\.\d+[f%g]\}\w*|toFixed|toLocaleString|Intl\.|localized"
)
ALLOWED = {  # lengths and shades of style sheets, and plotly's own templates
    " {:.2f}em",
    " {strength:.2f}",
    "%{z:.2f}",
}


def test_python_and_the_browser_write_a_number_alike(browser: Browser) -> None:
    """The kit's own functions, run by the browser that the pages are tested with."""
    code = "values => values.map(v => [grouped(v), grouped(v, 1), grouped(v, 2), seconds(v), "
    page = browser.new_page()
    page.add_script_tag(path=KIT)
    theirs = page.evaluate(f"{code} counted(v, 'call')])", VALUES)
    ours = [
        [grouped(v), grouped(v, 1), grouped(v, 2), seconds(v), counted(v, "call")]  # type: ignore[arg-type]
        for v in VALUES
    ]
    assert theirs == ours


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (grouped(2309), "2,309"),
        (grouped(0.2675, 2), "0.27"),
        (percent(0.29), "29 %"),
        (seconds(0), "0 s"),
        (seconds(0.42), "420 ms"),
        (seconds(1.23), "1.2 s"),
        (seconds(20), "20 s"),
        (seconds(1234.4), "1,234 s"),
        (dollars(0), "$0.00"),
        (dollars(0.00046), "$0.00046"),
        (dollars(0.027), "$0.027"),
        (dollars(0.11), "$0.11"),
        (dollars(1234.5), "$1,234.50"),
    ],
)
def test_a_number_is_written_as_people_read_it(told: str, expected: str) -> None:
    assert told == expected


@given(st.integers(0, 10**12))
def test_a_whole_number_is_what_a_format_makes_of_it(value: int) -> None:
    assert grouped(value) == f"{value:,}"


def test_nobody_writes_numbers_in_a_way_of_his_own() -> None:
    rooms = ("app", "show", "questions", "cli", "cache", "llm", "plugins/proxy")
    files = chain.from_iterable((ROOT / "playground" / room).rglob("*.[pj][ys]") for room in rooms)
    found = {
        (str(path.relative_to(ROOT)), own)
        for path in files
        for own in OWN.findall(path.read_text(encoding="utf-8"))
        if own not in ALLOWED and path != KIT
    }
    assert not found, "playground/base/wording.py, kit.js and ui/shared/tables.py write numbers"
    assert OWN.search("f'{cost:.2f}'") and OWN.search("${share:,.4f}")


def test_every_table_of_a_page_is_written_so() -> None:
    """But for the matrix of costs, which is coloured."""
    files = [*(ROOT / "playground" / "app").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    own = {path.name for path in files if "st.dataframe(" in path.read_text(encoding="utf-8")}
    assert own == {"cache.py"}


def test_a_table_writes_its_numbers_so_in_every_language() -> None:
    from streamlit.testing.v1 import AppTest

    def shown() -> None:
        import pandas as pd

        from playground.app.shared.tables import table

        shares = {"read_share": [0.84], "cost_share": [0.2675]}
        table(pd.DataFrame({"messages": [2309], **shares, "mean": [1.5], "own": ["x"]}))

    (found,) = AppTest.from_function(shown, default_timeout=300).run().dataframe
    columns = found.proto.columns
    for part in ('"%,d"', '"%,.0f %%"', '"%,.2f"'):
        assert part in columns
    for name, shown_as in (("read", 84.0), ("cost", 26.75)):
        pd.testing.assert_series_equal(found.value[name], pd.Series([shown_as], name=name))
    assert (found.proto.HasField("placeholder"), found.proto.placeholder) == (True, "")  # no `None`
