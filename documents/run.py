"""A document's passages, read in a process of its own that ends with it."""

import importlib.util
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import msgspec

from documents.sandbox import LIMITS, OUTPUT_BYTES, READING
from documents.types import Answer, Kind, Passage, Task, UnreadableDocument

_NOT_READ = "[This page is a picture. No text was read in it.]"

_ROOT = Path(__file__).parent.parent
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAIN_PARTS: dict[str, Kind] = {
    "word/document.xml": "docx",
    "xl/workbook.xml": "xlsx",
    "ppt/presentation.xml": "pptx",
}
_TYPES: dict[Kind, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "html": "text/html",
    "page": "text/html",
}


def looks_like_document(head: bytes) -> bool:
    """By the first kilobyte."""
    return b"%PDF-" in head[:1024] or head.startswith((b"PK\x03\x04", _OLE))


def document_kind(data: bytes) -> Kind | None:
    """What a file that looks like one is; None: something else that is packed so.

    Raises:
        UnreadableDocument: it is encrypted, or of Office before 2007.
    """
    if data.startswith(_OLE):
        # An encrypted OOXML file is in such a container, under this name in UTF-16.
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise UnreadableDocument("document_encrypted")
        return None
    if data.startswith(b"PK\x03\x04"):
        try:
            names = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise UnreadableDocument("document_broken") from error
        return next((kind for part, kind in _MAIN_PARTS.items() if part in names), None)
    return "pdf"


def content_type(kind: Kind) -> str:
    return _TYPES[kind]


def document_read(data: bytes, kind: Kind) -> list[Passage]:
    """The passages, in their order; those of scanned pages by OCR, where the extra `ocr` is
    installed. Takes minutes at most (documents/sandbox.py); call it in a thread.

    Raises:
        UnreadableDocument
    """
    passages = _in_child(data, kind)
    if kind == "pdf" and can_recognize() and not all(one.text for one in passages):
        passages = _with_pictures_read(passages, data)
    passages = [one for one in passages if one.text]
    if not passages:
        raise UnreadableDocument("document_without_text")
    return passages


def _with_pictures_read(passages: list[Passage], data: bytes) -> list[Passage]:
    try:
        found = _in_child(data, "scan")
    except UnreadableDocument:
        if not any(one.text for one in passages):
            raise
        found = []
    if not found and not any(one.text for one in passages):
        return []
    read: list[Passage] = []
    for passage in passages:
        if passage.text:
            read.append(passage)
        else:
            of_page = [one for one in found if one.place == passage.place]
            read += of_page or [Passage(passage.place, _NOT_READ)]
    return read


def images_read(images: list[bytes]) -> list[str]:
    """The text of each PNG file, by OCR. Takes seconds; call it in a thread.

    Raises:
        UnreadableDocument
    """
    return [one.text for one in _in_child(msgspec.msgpack.encode(images), "images")]


def can_recognize() -> bool:
    """Whether the extra `ocr` is installed."""
    return importlib.util.find_spec("rapidocr") is not None


def _in_child(data: bytes, task: Task) -> list[Passage]:
    """The child is given nothing but the data: no environment, no open file of ours.

    Raises:
        UnreadableDocument
    """
    limits = LIMITS.get(task, READING)
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as written:
        given.write(data)
        given.seek(0)
        child = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "documents.child", task],
            stdin=given,
            stdout=written,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        try:
            status = child.wait(timeout=limits.wall_seconds)
        except subprocess.TimeoutExpired as error:
            raise UnreadableDocument("document_too_slow") from error
        finally:
            child.kill()
            child.wait()
        if status != 0:
            # By a signal: its time was over (SIGXCPU, SIGKILL), or the parser fell.
            slow = status in {-24, -9}
            raise UnreadableDocument("document_too_slow" if slow else "document_broken")
        written.seek(0)
        try:
            answer = msgspec.json.decode(written.read(OUTPUT_BYTES + 1), type=Answer)
        except msgspec.DecodeError as error:
            raise UnreadableDocument("document_broken") from error
    if answer.failure is not None:
        raise UnreadableDocument(answer.failure)
    return answer.passages
