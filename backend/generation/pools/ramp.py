"""How much a replica gets that has just come back: as much as it shows that it bears.

While it was away a queue has built up, its caches are empty, and of its first answers nobody knows
how they go. So it begins with a few places, and gets two more for each answer that begins: while
answers take long, each round of first tokens about doubles what runs there. An answer that fails
halves its places. Source: slow start, RFC 5681, section 3.1.
"""

FIRST_PLACES = 4
_MORE = 2


class Ramp:
    """Of one replica. It limits nothing until `begin`."""

    def __init__(self) -> None:
        self._places: int | None = None

    @property
    def is_under_way(self) -> bool:
        return self._places is not None

    def begin(self, running: int) -> None:
        """The replica is back, or was only missed for a moment: what still runs there, `running`
        choices, it bears."""
        self._places = running + FIRST_PLACES

    def answered(self) -> None:
        """An answer has begun there."""
        if self._places is not None:
            self._places += _MORE

    def failed(self) -> None:
        """An answer has failed there."""
        if self._places is not None:
            self._places = max(FIRST_PLACES, self._places // 2)

    def limit(self, places: int) -> int:
        """How many of its `places` may be used now."""
        if self._places is None:
            return places
        if self._places >= places:
            self._places = None
            return places
        return self._places
