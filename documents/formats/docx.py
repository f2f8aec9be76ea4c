"""Word (OOXML) by python-docx: paragraphs and tables in their order, by their headings."""

import io
from collections.abc import Iterator

import docx
from docx.table import Table
from docx.text.paragraph import Paragraph

from documents.passages import clean, passages_of
from documents.types import Passage


def read(data: bytes) -> Iterator[Passage]:
    place, blocks = "", list[str]()
    for item in docx.Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(item, Table):
            blocks += _rows(item)
            continue
        text = clean(item.text)
        if text and _is_heading(item):
            yield from passages_of(place, blocks)
            place, blocks = f"section {text}", []
        blocks.append(text)
    yield from passages_of(place, blocks)


def _is_heading(paragraph: Paragraph) -> bool:
    style = paragraph.style
    return style is not None and (style.name or "").startswith(("Heading", "Title"))


def _rows(table: Table) -> list[str]:
    rows = []
    for row in table.rows:
        cells: list[str] = []
        for cell in row.cells:
            text = clean(cell.text.replace("\n", " "))
            if not cells or cells[-1] != text:  # joined cells are named once for each column
                cells.append(text)
        rows.append(" | ".join(cells))
    return rows
