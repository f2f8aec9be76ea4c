"""Stop strings in a stream: found across token borders, and never sent, not even in part."""

from __future__ import annotations


class StopStrings:
    """Holds back text that may be the beginning of a stop string.

    Invariant: what was released, joined, is a prefix of the whole text that ends before
    the first stop string in it.
    """

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = stops
        self._held = ""
        self.found: str | None = None
        """The stop string that ended the text; None while there was none."""

    def feed(self, text: str) -> tuple[str, bool]:
        """Take new text; return what may be sent, and whether a stop string was found."""
        if not self._stops:
            return text, False
        self._held += text
        found = [(at, stop) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            first, self.found = min(found)
            released, self._held = self._held[:first], ""
            return released, True
        keep = self._longest_beginning()
        cut = len(self._held) - keep
        released, self._held = self._held[:cut], self._held[cut:]
        return released, False

    def finish(self) -> str:
        """No more text comes: what was held back was no stop string after all."""
        released, self._held = self._held, ""
        return released

    def _longest_beginning(self) -> int:
        """How many last characters are the beginning of some stop string."""
        longest = max(map(len, self._stops)) - 1
        for count in range(min(longest, len(self._held)), 0, -1):
            if any(stop.startswith(self._held[-count:]) for stop in self._stops):
                return count
        return 0
