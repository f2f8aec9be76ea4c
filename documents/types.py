"""What a document becomes, how reading it may fail, and how much is read."""

from typing import Literal

import msgspec

Kind = Literal["pdf", "docx", "xlsx", "pptx", "html", "page"]
Task = Kind | Literal["scan", "images"]
"""What a child is started for: a document's text; by OCR, the pages of a PDF that are only
pictures; by OCR, images."""

PAGE_TITLE = "title"
"""The place of the first passage of a `page`, where it has a title."""
MAX_PAGES = 2_000
MAX_CHARACTERS = 4_000_000
"""About a million tokens: more than any model's window, and little to search."""
MAX_SCANNED_PAGES = 20
"""Of one file: a page of print takes OCR five seconds of a core."""
MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_PACKED_FILES = 10_000

Code = Literal[
    "document_encrypted",
    "document_broken",
    "document_too_long",
    "document_too_large",
    "document_too_slow",
    "document_without_text",
]

WORDS: dict[Code, str] = {
    "document_encrypted": "The file is protected by a password. Save it without one.",
    "document_broken": "The file is damaged: it could not be read.",
    "document_too_long": (
        f"The file is too long: at most {MAX_PAGES:,} pages and {MAX_CHARACTERS:,} characters"
        " are read. Split it."
    ),
    "document_too_large": "The file unpacks to more than may be read.",
    "document_too_slow": "The file took too long to read.",
    "document_without_text": ("The file has no text in it that could be found."),
}


class UnreadableDocument(Exception):
    """Why a file is no document that can be read."""

    def __init__(self, code: Code) -> None:
        super().__init__(WORDS[code])
        self.code: Code = code


class Passage(msgspec.Struct, frozen=True):
    """A stretch of a document.

    Attributes:
        place: where it stands, as it is cited: "page 3", "sheet Prices, rows 2-40", "slide 4",
            "section Terms", "lines 10-60"; "" where there is nothing to say.
        text: "" of a page that is only a picture, until OCR has read it.
    """

    place: str
    text: str


class Answer(msgspec.Struct):
    """What the child writes: passages, or the code of a failure."""

    passages: list[Passage] = []
    failure: Code | None = None
