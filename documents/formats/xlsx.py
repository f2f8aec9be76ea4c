"""Excel (OOXML) by openpyxl: values as they were last computed, row by row."""

import io
from collections.abc import Iterator
from typing import Any

import openpyxl

from documents.passages import clean, numbered_passages
from documents.types import Passage

_MAX_COLUMNS = 200
_MAX_EMPTY_ROWS = 1_000
"""So many in a row end a sheet: files say that they have a million."""


def read(data: bytes) -> Iterator[Passage]:
    workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    for sheet in workbook.worksheets:
        rows = _rows(sheet)
        first = next(rows, None)
        if first is None:
            continue
        lines = _with_first(first, rows)
        yield from numbered_passages(f"sheet {sheet.title}, rows", lines, header=first[1][:500])


def _with_first(
    first: tuple[int, str], others: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    yield first
    yield from others


def _rows(sheet: Any) -> Iterator[tuple[int, str]]:
    empty = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True, max_col=_MAX_COLUMNS), start=1):
        cells = [clean(str(value)).replace("\n", " ") if value is not None else "" for value in row]
        line = " | ".join(cells).rstrip(" |")
        empty = 0 if line else empty + 1
        if empty > _MAX_EMPTY_ROWS:
            return
        if line:
            yield number, line
