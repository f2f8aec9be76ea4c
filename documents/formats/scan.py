"""The pages of a PDF that are only pictures, by OCR: the first MAX_SCANNED_PAGES of them."""

import time
from collections.abc import Iterator
from itertools import islice

import pypdfium2 as pdfium

from documents.formats.pdf import pictured_pages
from documents.ocr import MAX_SIDE, lines_of
from documents.passages import clean, passages_of
from documents.types import MAX_SCANNED_PAGES, Passage

_ENOUGH_S = 120
"""After so long no further page is begun: somebody waits for those that are read."""


def read(data: bytes) -> Iterator[Passage]:
    document = pdfium.PdfDocument(data)
    over = time.monotonic() + _ENOUGH_S
    for number in islice(pictured_pages(document), MAX_SCANNED_PAGES):
        if time.monotonic() > over:
            return
        page = document[number - 1]
        lines = lines_of(page.render(scale=MAX_SIDE / max(page.get_size())).to_pil())
        yield from passages_of(f"page {number}", (clean(line) for line in lines))
        page.close()
