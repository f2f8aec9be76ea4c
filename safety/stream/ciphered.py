"""ROT13 inside an answer, found while it streams by.

A word whose letter pairs are less English than those of its rotation speaks for the cipher, an
English word against it. From the first word that speaks for it, text is held; what stands between
there and the end of the run is rotated and checked like an answer of its own. Ordinary words never
begin a run that lasts: they wait for the next word at most.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from safety.read.decode import common_pairs, rotated
from safety.read.normalise import Word
from safety.stream.watch import Flagged

MIN_EVIDENCE = 6
"""Common letter pairs that a run must gain by rotation; three short words of ROT13 have them."""

MAX_WORDS = 64
"""A run is checked after so many words, and what follows begins another."""


@lru_cache(maxsize=32_768)
def _gain(word: str) -> int:
    """How many more common letter pairs a word has when it is rotated."""
    return common_pairs(rotated(word)) - common_pairs(word)


Check = Callable[[str], Flagged | None]


class CipherWatch:
    """Takes an answer's words in order; see `safety.stream.watch` for what a watch promises.

    Args:
        check: says whether a decoded text is flagged; the place in what it returns is not used.
    """

    def __init__(self, check: Check) -> None:
        self._check = check
        self._run: list[str] = []
        self._evidence = self._highest = 0
        self._count = 0

    def take(self, new: Sequence[Word]) -> Flagged | None:
        """The first flagged run that `new` ends."""
        for word in new:
            flagged = self._step(word.text)
            if flagged is not None:
                return flagged
        return None

    def finish(self) -> Flagged | None:
        """The run that only the end of the answer ends, where it is flagged."""
        return self._end()

    def open_since(self) -> int | None:
        """The first word of a run that goes on, or None."""
        return self._count - len(self._run) if self._run else None

    def _step(self, word: str) -> Flagged | None:
        gain = _gain(word)
        if gain <= 0 and not self._run:
            self._count += 1
            return None
        self._evidence = max(0, self._evidence + gain)
        if self._evidence == 0:
            flagged = self._end()
            self._count += 1
            return flagged
        self._run.append(word)
        self._count += 1
        self._highest = max(self._highest, self._evidence)
        return self._end() if len(self._run) == MAX_WORDS else None

    def _end(self) -> Flagged | None:
        """Check the run, which the next word does not belong to."""
        run, highest = self._run, self._highest
        self._run, self._evidence, self._highest = [], 0, 0
        if highest < MIN_EVIDENCE:
            return None
        found = self._check(" ".join(map(rotated, run)))
        if found is None:
            return None
        return replace(found, first=self._count - len(run), last=self._count - 1)
