"""Whether cached blocks still hold what was computed, where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inference.cache.block_pool import BlockPool

Checksums = Callable[[Sequence[int]], list[int]]
"""One number for each of the given blocks, of what they hold."""


class BlockChecks:
    """The checksums of one pool's cached blocks."""

    def __init__(self, pool: BlockPool, checksums: Checksums) -> None:
        self._pool = pool
        self._checksums = checksums
        self._checksum_of: dict[bytes, int] = {}
        """By block hash; of cached blocks that were computed while this was on."""
        self._unsummed: list[bytes] = []
        self.mismatches = 0

    def registered(self, block_hash: bytes) -> None:
        """A block of this step is found by this hash from now on."""
        self._checksum_of.pop(block_hash, None)
        self._unsummed.append(block_hash)

    def are_intact(self, block_ids: list[int]) -> bool:
        """Whether cached blocks still hold what was computed; one that does not is forgotten.

        Blocks that this very step computes have no checksum yet, and are taken as they are.
        """
        if not block_ids:
            return True
        pool = self._pool
        expected = [self._checksum_of.get(pool.hash_of(block_id) or b"") for block_id in block_ids]
        intact = True
        found = self._checksums(block_ids)
        for block_id, known, summed in zip(block_ids, expected, found, strict=True):
            if known is not None and known != summed:
                pool.forget(block_id)
                self.mismatches += 1
                intact = False
        return intact

    def remember(self) -> None:
        """After a step: note the checksums of the blocks that it made findable."""
        if not self._unsummed:
            return
        found = {h: b for h in self._unsummed if (b := self._pool.find(h)) is not None}
        if found:
            self._checksum_of.update(zip(found, self._checksums(list(found.values())), strict=True))
        self._unsummed.clear()
        if len(self._checksum_of) > 2 * self._pool.total:
            cached = self._pool.cached()
            self._checksum_of = {h: s for h, s in self._checksum_of.items() if h in cached}
