"""PowerPoint (OOXML) by python-pptx: each slide's text, tables and notes."""

import io
from collections.abc import Iterable, Iterator
from typing import Any

import pptx
from pptx.shapes.group import GroupShape

from documents.passages import clean, passages_of
from documents.types import MAX_PAGES, Passage, UnreadableDocument


def read(data: bytes) -> Iterator[Passage]:
    slides = pptx.Presentation(io.BytesIO(data)).slides
    if len(slides) > MAX_PAGES:
        raise UnreadableDocument("document_too_long")
    for number, slide in enumerate(slides, start=1):
        blocks = list(_texts(slide.shapes))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            blocks += slide.notes_slide.notes_text_frame.text.splitlines()
        yield from passages_of(f"slide {number}", [clean(block) for block in blocks])


def _texts(shapes: Iterable[Any]) -> Iterator[str]:
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _texts(shape.shapes)
        elif shape.has_text_frame:
            yield from shape.text_frame.text.splitlines()
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                yield " | ".join(cell.text.replace("\n", " ") for cell in row.cells)
