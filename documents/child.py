"""`python -m documents.child TASK`: one document on stdin, an `Answer` as JSON on stdout.

The libraries are imported first; then this process gives up what it does not need, and only
then reads what somebody sent.
"""

import importlib
import io
import sys
import zipfile
from collections.abc import Iterator

import msgspec

from documents import sandbox
from documents.sandbox import LIMITS, READING
from documents.types import (
    MAX_CHARACTERS,
    MAX_PACKED_FILES,
    MAX_UNPACKED_BYTES,
    Answer,
    Code,
    Passage,
    UnreadableDocument,
)

_PACKED = {"docx", "xlsx", "pptx"}


def main(task: str) -> None:
    reader = importlib.import_module(f"documents.formats.{task}")
    sandbox.enter(LIMITS.get(task, READING))
    answer = Answer()
    try:
        data = sys.stdin.buffer.read()
        if task in _PACKED:
            _check_packed(data)
        answer.passages = list(_bounded(reader.read(data)))
    except UnreadableDocument as error:
        answer = _failed(error.code)
    except MemoryError:
        answer = _failed("document_too_large")
    except Exception:
        # Whatever a library says of a file that it cannot read: there are dozens of types.
        answer = _failed("document_broken")
    sys.stdout.buffer.write(msgspec.json.encode(answer))
    sys.stdout.buffer.flush()


def _failed(code: Code) -> Answer:
    return Answer(failure=code)


def _check_packed(data: bytes) -> None:
    """By what the directory says; zipfile reads no more of a file than is declared there."""
    files = zipfile.ZipFile(io.BytesIO(data)).infolist()
    if any(file.flag_bits & 1 for file in files):
        raise UnreadableDocument("document_encrypted")
    if len(files) > MAX_PACKED_FILES or sum(f.file_size for f in files) > MAX_UNPACKED_BYTES:
        raise UnreadableDocument("document_too_large")


def _bounded(passages: Iterator[Passage]) -> Iterator[Passage]:
    characters = 0
    for passage in passages:
        characters += len(passage.text)
        if characters > MAX_CHARACTERS:
            raise UnreadableDocument("document_too_long")
        yield passage


if __name__ == "__main__":
    main(sys.argv[1])
