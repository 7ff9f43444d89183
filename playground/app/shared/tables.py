"""Tables on pages, with the glossary's titles, and numbers in its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st
from pandas.api.types import (
    is_bool_dtype,
    is_float_dtype,
    is_numeric_dtype,
    is_object_dtype,
    is_string_dtype,
)
from streamlit.delta_generator import DeltaGenerator

from playground.app.shared import say
from playground.cache.simulated import sureness
from playground.show import frames
from playground.show.glossary import figure, title
from playground.show.rows import AnswerRows

WHOLE: Final = "%,d"
_DECIMALS: Final = "%,.2f"
_FORMATS: Final = {  # unit -> format; other numbers are whole, or have two decimals
    "share": "%,.0f %%",
    "seconds": "%,.2f s",
    "chance": "%,.3f",
    "tokens": WHOLE,
    "dollars": "%,.4f",
}
_MONEY: Final = "%,.4f"  # for a column whose name has dollars in it
_ROW_PIXELS: Final = 35
_EDGE_PIXELS: Final = 3
_AUTO_PIXELS: Final = 400
_MOST_PIXELS: Final = 20_000


def table(
    rows: AnswerRows | pd.DataFrame | Sequence[Any] | Mapping[str, Sequence[Any]],
    place: DeltaGenerator | None = None,
    columns: Mapping[str, Any] | None = None,
    empty: str = "",
    **options: Any,
) -> None:
    """Show rows without their index, in `place` if it is given, under the glossary's titles.

    `columns` is the `column_config` of st.dataframe, `options` are its other arguments. A cell
    without a value shows `empty`. The height is set in pixels, so that the browser keeps it free
    until the code for tables has loaded.
    """
    named = frames.frame(rows) if isinstance(rows, AnswerRows) else pd.DataFrame(rows)
    units = {title(name): _unit(name) for name in map(str, named.columns)}
    frame = _in_order(named.rename(columns=lambda name: title(str(name))))
    most = {"content": _MOST_PIXELS, "auto": _AUTO_PIXELS}.get(options.get("height", "auto"))
    if most and len(frame):
        options["height"] = min((len(frame) + 1) * _ROW_PIXELS + _EDGE_PIXELS, most)
    shares = {name: frame[name] * 100 for name, unit in units.items() if unit == "share"}
    (place or st).dataframe(
        frame.assign(**shares) if shares else frame,
        hide_index=True,
        placeholder=empty,  # the default is `None`
        column_config={
            **_numbers(frame, units),
            **{title(name): config for name, config in (columns or {}).items()},
        },
        **options,
    )


def _unit(name: str) -> str:
    known = figure(name)
    return known.unit if known else ""


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its texts guarded against characters that change the reading
    direction."""
    shown = frame.copy(deep=False)
    for at, dtype in enumerate(frame.dtypes):
        if is_object_dtype(dtype) or is_string_dtype(dtype):
            write = sureness if frame.columns[at] == "state" else say.shown
            texts = [write(each) for each in frame.iloc[:, at]]
            shown.isetitem(at, pd.Series(texts, index=frame.index, dtype=dtype))
    shown.columns = pd.Index([say.shown(name) for name in frame.columns])
    return shown


def _numbers(frame: pd.DataFrame, units: Mapping[str, str]) -> dict[str, Any]:
    """Return the format of each column of numbers. Without it, the format would depend on the
    browser's language."""
    return {
        name: st.column_config.NumberColumn(format=_format(name, units.get(name, ""), column))
        for name, column in ((str(key), column) for key, column in frame.items())
        if is_numeric_dtype(column) and not is_bool_dtype(column)
    }


def _format(name: str, unit: str, column: pd.Series[Any]) -> str:
    if name.endswith(", $"):
        return _MONEY
    plain = _DECIMALS if is_float_dtype(column) else WHOLE
    return _FORMATS.get(unit, plain)
