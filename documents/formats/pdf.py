"""PDF by PDFium: each page's text in reading order."""

from collections.abc import Iterator

import pypdfium2 as pdfium

from documents.passages import clean, passages_of
from documents.types import MAX_PAGES, Passage, UnreadableDocument


def read(data: bytes) -> Iterator[Passage]:
    try:
        document = pdfium.PdfDocument(data)
        count = len(document)
    except pdfium.PdfiumError as error:
        locked = "password" in str(error).lower()
        raise UnreadableDocument("document_encrypted" if locked else "document_broken") from error
    if count > MAX_PAGES:
        raise UnreadableDocument("document_too_long")
    for number in range(count):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded()
        except pdfium.PdfiumError:
            continue  # one broken page; the others are read
        lines = [clean(line) for line in text.splitlines()]
        yield from passages_of(f"page {number + 1}", lines)
        page.close()
