"""PDF by PDFium: each page's text in reading order."""

from collections.abc import Iterator

import pypdfium2 as pdfium
from pypdfium2 import raw

from documents.passages import clean, passages_of
from documents.types import MAX_PAGES, Passage, UnreadableDocument

_FORMS_WITHIN = 3
"""A scanner's picture may lie in a form of the page, or in a form of that."""


def read(data: bytes) -> Iterator[Passage]:
    """A page that is only a picture is a passage without text."""
    try:
        document = pdfium.PdfDocument(data)
        count = len(document)
    except pdfium.PdfiumError as error:
        locked = "password" in str(error).lower()
        raise UnreadableDocument("document_encrypted" if locked else "document_broken") from error
    if count > MAX_PAGES:
        raise UnreadableDocument("document_too_long")
    for number, page, lines in _pages(document):
        if lines:
            yield from passages_of(f"page {number}", lines)
        elif _has_picture(page):
            yield Passage(f"page {number}", "")


def pictured_pages(document: pdfium.PdfDocument) -> Iterator[int]:
    """The numbers, from 1, of pages that are only a picture."""
    return (number for number, page, lines in _pages(document) if not lines and _has_picture(page))


def _pages(document: pdfium.PdfDocument) -> Iterator[tuple[int, pdfium.PdfPage, list[str]]]:
    for number in range(1, len(document) + 1):
        try:
            page = document[number - 1]
            text = page.get_textpage().get_text_bounded()
        except pdfium.PdfiumError:
            continue  # one broken page; the others are read
        yield number, page, [line for line in map(clean, text.splitlines()) if line]
        page.close()


def _has_picture(page: pdfium.PdfPage) -> bool:
    images = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_FORMS_WITHIN)
    return next(images, None) is not None
