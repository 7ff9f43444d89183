"""Tables on pages, whose numbers are written as everywhere else (`counts.py`)."""

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

WHOLE: Final = "%,d"
_DECIMALS: Final = "%,.2f"
_FORMATS: Final = {  # of the columns that are neither whole nor a plain decimal number
    "read share": "%,.0f %%",
    "at": "%,.2f s",
    "p": "%,.3f",
    "tokens": WHOLE,
    "read, % of billed": "%,.0f",
}
_MONEY: Final = "%,.4f"  # of a column that names dollars
_SHARES: Final = ("read share",)
_ROW_PIXELS: Final = 35
_EDGE_PIXELS: Final = 3
_AUTO_PIXELS: Final = 400
_MOST_PIXELS: Final = 20_000


def table(
    rows: pd.DataFrame | Sequence[Any] | Mapping[str, Sequence[Any]],
    place: DeltaGenerator | None = None,
    columns: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Show rows without their index, in `place` where that is given.

    `columns` and `options` are st.dataframe's `column_config` and its others. The height is said in
    pixels: the browser keeps that place until it has loaded what draws tables.
    """
    frame = _in_order(pd.DataFrame(rows))
    most = {"content": _MOST_PIXELS, "auto": _AUTO_PIXELS}.get(options.get("height", "auto"))
    if most and len(frame):
        options["height"] = min((len(frame) + 1) * _ROW_PIXELS + _EDGE_PIXELS, most)
    shares = {name: frame[name] * 100 for name in _SHARES if name in frame}
    (place or st).dataframe(
        frame.assign(**shares) if shares else frame,
        hide_index=True,
        placeholder="",  # of what is not there; by itself it is a `None`
        column_config={**_numbers(frame), **(columns or {})},
        **options,
    )


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with its texts as they may be shown: a cell may be a sentence of ours."""
    shown = frame.copy(deep=False)
    for at, dtype in enumerate(frame.dtypes):
        if is_object_dtype(dtype) or is_string_dtype(dtype):
            texts = [say.shown(each) for each in frame.iloc[:, at]]
            shown.isetitem(at, pd.Series(texts, index=frame.index, dtype=dtype))
    shown.columns = pd.Index([say.shown(name) for name in frame.columns])
    return shown


def _numbers(frame: pd.DataFrame) -> dict[str, Any]:
    """Return how each column of numbers is written: a browser's own way depends on its language."""
    return {
        str(name): st.column_config.NumberColumn(format=_format(str(name), column))
        for name, column in frame.items()
        if is_numeric_dtype(column) and not is_bool_dtype(column)
    }


def _format(name: str, column: pd.Series[Any]) -> str:
    if name.endswith(", $"):
        return _MONEY
    return _FORMATS.get(name, _DECIMALS if is_float_dtype(column) else WHOLE)
