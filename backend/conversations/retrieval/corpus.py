"""The handbook as files of one person, cut and stored as uploads are, and the questions on it."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from backend.conversations.models import Attachment, AttachmentKind, Passage
from documents.passages import text_passages

_FOLDER = Path(__file__).parent
HANDBOOK = _FOLDER / "handbook"
KINDS = ("words", "exact", "paraphrase", "language")


@dataclass(frozen=True, slots=True)
class Question:
    """`document` and `section` name the one passage that answers it."""

    kind: str
    document: str
    section: str
    question: str

    @property
    def answer(self) -> tuple[str, str]:
        """(filename, place) of the passage."""
        return f"{self.document}.md", f"section {self.section}"


def questions() -> list[Question]:
    with (_FOLDER / "questions.csv").open(newline="", encoding="utf-8") as file:
        return [Question(**row) for row in csv.DictReader(file)]


def handbook() -> Iterator[tuple[str, str]]:
    """(filename, text) of each document."""
    for path in sorted(HANDBOOK.glob("*.md")):
        yield path.name, path.read_text(encoding="utf-8")


def handbook_store(*, organization_id: UUID, user_id: UUID) -> list[Passage]:
    """Every document as an attachment with its passages; nothing is kept of the files' bytes.

    Their ids are in order: where no word fits, the search gives the first passages by them.
    """
    stored: list[Passage] = []
    for number, (filename, text) in enumerate(handbook(), start=1):
        attachment = Attachment.objects.create(
            id=UUID(int=number),
            organization_id=organization_id,
            user_id=user_id,
            kind=AttachmentKind.TEXT,
            filename=filename,
            content_type="text/markdown",
            size=len(text.encode()),
            file="attachments/none",
        )
        stored += Passage.objects.bulk_create(
            Passage(attachment=attachment, position=at, place=one.place, text=one.text)
            for at, one in enumerate(text_passages(text, filename=filename))
        )
    return stored
