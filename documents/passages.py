"""Long text in passages of about a paragraph's length, each inside one place of its document."""

import re
from collections.abc import Iterable, Iterator

from documents.types import Passage

LENGTH = 1_200
"""Characters of a passage: some 300 tokens, of which embedding models read 256 to 512."""
PLACE_LENGTH = 200

_SPACES = re.compile(r"[ \t\u00a0]+")
_ENDS = re.compile(r"(?<=[.!?])\s+")
_HEADING = re.compile(r"#{1,6}\s++(\S.*)")
_FENCE = re.compile(r"^(```|~~~)")


def passages_of(place: str, blocks: Iterable[str], *, header: str = "") -> Iterator[Passage]:
    """Blocks (paragraphs, rows) of one place, put together up to LENGTH, none of them torn that
    is shorter.

    Args:
        header: begins each passage.
    """
    place = shown_place(place)
    begin = [header] if header else []
    taken: list[str] = []
    length = len(header)
    for block in blocks:
        for piece in _pieces(block):
            if taken and length + len(piece) > LENGTH:
                yield Passage(place, "\n".join([*begin, *taken]))
                taken, length = [], len(header)
            taken.append(piece)
            length += len(piece) + 1
    if taken:
        yield Passage(place, "\n".join([*begin, *taken]))


def shown_place(place: str) -> str:
    """On one line, without brackets: it stands between two in a citation."""
    return _SPACES.sub(" ", re.sub(r"[\[\]\s]", " ", place)).strip()[:PLACE_LENGTH]


def clean(text: str) -> str:
    """Without what PostgreSQL cannot store and with single spaces."""
    text = text.replace("\x00", "").encode("utf-8", "replace").decode()
    return _SPACES.sub(" ", text).strip()


def text_passages(text: str, *, filename: str = "") -> Iterator[Passage]:
    """Passages of plain text: Markdown by its headings, all else by its lines."""
    if filename.lower().endswith((".md", ".markdown")):
        yield from _by_headings(text.splitlines())
    else:
        yield from _by_lines(text.splitlines(), table=filename.lower().endswith((".csv", ".tsv")))


def _by_headings(lines: list[str]) -> Iterator[Passage]:
    """Passages begin with the headings around them, unless those are longer than a place may be;
    a heading that only others follow makes none of its own."""
    headings, taken, fenced = list[str](), list[str](), False
    for line in lines:
        fenced ^= bool(_FENCE.match(line))
        if not fenced and _heading(line):
            around = [one for one in headings if _level(one) < _level(line)]
            if len("\n".join(around)) > PLACE_LENGTH:
                around = []
            if taken or around != headings:
                yield from _section(headings, taken)
            headings, taken = [*around, line.rstrip()], []
        elif line.strip():
            taken.append(line.rstrip())
    yield from _section(headings, taken)


def _section(headings: list[str], lines: list[str]) -> Iterator[Passage]:
    """
    Args:
        headings: the outermost first; the last is the section's own.
    """
    own = _heading(headings[-1]) if headings else ""
    header = "\n".join(headings)
    if not lines or len(header) > PLACE_LENGTH:
        header, lines = "", [*headings, *lines]
    yield from passages_of(f"section {own}" if own else "", lines, header=header)


def _heading(line: str) -> str:
    """The text of a Markdown heading, without the signs that may close it; "" where it is none."""
    found = _HEADING.match(line)
    if found is None:
        return ""
    return found[1].rstrip().rstrip("#").rstrip() or "#"


def _level(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _by_lines(lines: list[str], *, table: bool) -> Iterator[Passage]:
    """Each passage knows its lines; of a table each begins with the header."""
    header = lines[0][:LENGTH] if table and lines else ""
    yield from numbered_passages("lines", enumerate(lines, start=1), header=header)


def numbered_passages(
    what: str, lines: Iterable[tuple[int, str]], *, header: str = ""
) -> Iterator[Passage]:
    """Lines with their numbers, as passages whose place is `what` and the first and last one.

    Args:
        header: begins each passage but the first.
    """
    taken: list[str] = []
    length = first = last = 0
    for number, line in lines:
        if taken and length + len(line) > LENGTH:
            yield Passage(shown_place(f"{what} {first}-{last}"), "\n".join(taken))
            taken, length = ([header] if header else []), len(header)
            first = number
        first = first or number
        last = number
        pieces = list(_pieces(line)) or [""]
        for piece in pieces[:-1]:
            yield Passage(shown_place(f"{what} {number}-{number}"), piece)
        taken.append(pieces[-1])
        length += len(pieces[-1]) + 1
    if any(line.strip() for line in taken):
        yield Passage(shown_place(f"{what} {first}-{last}"), "\n".join(taken))


def _pieces(block: str) -> Iterator[str]:
    """`block`, torn at ends of sentences where it is too long, else at spaces, else anywhere."""
    if len(block) <= LENGTH:
        if block.strip():
            yield block
        return
    piece = ""
    for sentence in _ENDS.split(block):
        if piece and len(piece) + len(sentence) > LENGTH:
            yield piece
            piece = ""
        while len(sentence) > LENGTH:
            at = sentence.rfind(" ", LENGTH // 2, LENGTH)
            at = at if at > 0 else LENGTH
            yield sentence[:at]
            sentence = sentence[at:].lstrip()
        piece = f"{piece} {sentence}" if piece else sentence
    if piece.strip():
        yield piece
