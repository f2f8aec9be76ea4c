"""Personal data taken out of a text that streams by.

The text is cut into segments at borders that depend on the text alone: a token of letters is a
segment of its own, tokens that may belong to one number stay together, a private key is one
segment from its first to its last line. A segment is released whole, once it is complete, so
what comes out does not depend on how the text was cut into chunks. Where nothing that is looked
for may begin with letters, but secret keys with a few known ones, the letters that a token begins
with are a segment that is released as it comes.
"""

import re
from collections.abc import Collection

from safety.score.personal_data import SECRET_KEYS_BEGIN_WITH, Finding, find_personal_data

MAX_SEGMENT = 2_048
"""Characters after which a segment ends wherever it is; longer than anything recognised."""

_KEY_BEGINS = "-----BEGIN"
_KEY_ENDS = "-----END"
_NOT_OF_LETTERS = frozenset({"secret_key", "card_number", "private_key"})
# Words between spaces and line breaks: what goes through whole, and leaves nothing behind. A letter
# alone and the end of "don't" only before a space: they may go on as a secret key begins.
_LONG_WORD = (
    f"(?!{'|'.join(sorted(SECRET_KEYS_BEGIN_WITH))})[A-Za-z]{{2,}}(?:'[a-z](?=[ \n])|[,.;:!?]?)"
)
_WORDS = f"(?:(?: |\n\n?)(?:{_LONG_WORD}|[A-Za-z][,.;:!?]?(?=[ \n])))*"
_WORDS_ONLY = re.compile(f"(?:{_LONG_WORD})?{_WORDS}[ \n]?")
_REST_AND_WORDS = re.compile(f"[A-Za-z]*[,.;:!?]?{_WORDS}[ \n]?")


class Redactor:
    """Passes text through, replacing findings of `kinds`.

    Args:
        context: texts of the conversation; what the user wrote there is not redacted.
    """

    def __init__(self, kinds: Collection[str], context: str = "") -> None:
        self._kinds = frozenset(kinds)
        self._context = context
        self._segment = ""
        self._at = 0
        self._releases_letters = self._kinds <= _NOT_OF_LETTERS
        self._in_word = False
        self.found: list[str] = []
        """Kinds of what was replaced, in order."""

    @property
    def held(self) -> int:
        """Characters that were fed and have not come out."""
        return len(self._segment)

    def feed(self, text: str) -> str:
        """The redacted segments that `text` completes."""
        if not self._kinds:
            return text
        self._segment += text
        words = self._take_words()
        if not self._segment:
            return words  # ordinary prose
        released = [words]
        while self._segment and (border := self._next_border()) is not None:
            released.append(self._redacted(self._segment[:border]))
            self._segment, self._at = self._segment[border:], 0
            released.append(self._take_words())
        return "".join(released)

    def _take_words(self) -> str:
        """Take what the segment begins with and may be released as it is: the rest of a word whose
        beginning was released, and words."""
        if not self._releases_letters or not self._segment:
            return ""
        match = (_REST_AND_WORDS if self._in_word else _WORDS_ONLY).match(self._segment)
        assert match is not None  # it may be empty
        text = match.group()
        if text:
            self._segment, self._at = self._segment[len(text) :], 0
        self._in_word = not self._segment and text[-1].isalpha()
        return text

    def finish(self) -> str:
        """What is still held, redacted."""
        segment, self._segment = self._segment, ""
        return self._redacted(segment)

    def _next_border(self) -> int | None:
        """Where the first segment ends, or None while it may still grow.

        `_at` remembers how far it was searched: each character is looked at once.
        """
        segment = self._segment
        while self._at < min(len(segment), MAX_SEGMENT):
            position = self._at
            if not segment[position].isspace():
                self._at += 1
                continue
            ends = self._ends(segment, position)
            if ends is None:
                return None
            if ends:
                return position + 1
            self._at += 1
        return MAX_SEGMENT if len(segment) > MAX_SEGMENT else None

    def _ends(self, segment: str, position: int) -> bool | None:
        """Whether the white space at `position` ends the segment; None while that depends on a
        character that is not there yet."""
        if segment.lstrip().startswith(_KEY_BEGINS) and "private_key" in self._kinds:
            before = segment[:position].rstrip()
            return before.endswith("-----") and _KEY_ENDS in before
        last = segment[:position].split()[-1:]
        if not last or not any(c.isdigit() for c in last[0]):
            return True
        after = segment[position + 1 : position + 2]
        if not after:
            return None
        return not (after.isdigit() or after.isspace() or after in "(+-" or after.isupper())

    def _redacted(self, segment: str) -> str:
        stripped = segment.lstrip()
        if stripped.startswith(_KEY_BEGINS) and "private_key" in self._kinds:
            header = next(iter(find_personal_data(stripped, {"private_key"})), None)
            if header is not None:
                self.found.append("private_key")
                before = segment[: len(segment) - len(stripped)]
                return before + header.mask + segment[len(segment.rstrip()) :]
        parts: list[str] = []
        end = 0
        for finding in find_personal_data(segment, self._kinds):
            parts += [segment[end : finding.start], self._masked(segment, finding)]
            end = finding.end
        return "".join([*parts, segment[end:]])

    def _masked(self, segment: str, finding: Finding) -> str:
        found = segment[finding.start : finding.end]
        if found in self._context:
            return found
        self.found.append(finding.kind)
        return finding.mask
