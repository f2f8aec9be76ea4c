"""The pool of KV blocks: who refers to which block, and which full blocks are cached.

Invariants, tested by a state machine in tests/inference/test_scheduler_machine.py:

- every block is either free (reference count 0, in the free queue) or referenced:
  `free + referenced == total`;
- a block has a hash if and only if the hash leads back to it, and its content is then
  what the hash says;
- the free queue is in order of last use, leaves before their parents, so eviction takes
  the least recently used leaf first. It holds because a request that refers to a block
  refers to all blocks before it, and releases its blocks last one first. (Where two
  requests computed the same block side by side only one is findable, and a child of the
  other may outlive it, as may one of layers with a window, whose first blocks a request has
  released: where others see all, it is found by its own hash.)

Source: Kwon et al. 2023 (PagedAttention); the hash chain is vLLM's prefix cache.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable


class BlockPool:
    def __init__(self, num_blocks: int) -> None:
        if num_blocks < 1:
            raise ValueError(f"a block pool needs at least one block, not {num_blocks}")
        self.total = num_blocks
        self._references = [0] * num_blocks
        self._hash_of: list[bytes | None] = [None] * num_blocks
        self._block_of: dict[bytes, int] = {}
        self._free: OrderedDict[int, None] = OrderedDict.fromkeys(range(num_blocks))

    @property
    def num_free(self) -> int:
        """Blocks without a reference; those with cached content are counted too."""
        return len(self._free)

    @property
    def num_used(self) -> int:
        return self.total - len(self._free)

    def take(self, count: int) -> list[int] | None:
        """Hand out `count` blocks with one reference each, evicting cached content.

        Returns None, with nothing changed, when fewer are free.
        """
        if count > len(self._free):
            return None
        taken = []
        for _ in range(count):
            block_id, _ = self._free.popitem(last=False)
            self.forget(block_id)
            self._references[block_id] = 1
            taken.append(block_id)
        return taken

    def share(self, block_ids: Iterable[int]) -> None:
        """Add one reference to each block; cached free blocks come back to life."""
        for block_id in block_ids:
            if self._references[block_id] == 0:
                del self._free[block_id]
            self._references[block_id] += 1

    def release(self, block_ids: Iterable[int]) -> None:
        """Drop one reference to each block of one request, given first block first."""
        for block_id in reversed(list(block_ids)):
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free[block_id] = None
                if self._hash_of[block_id] is None:
                    self._free.move_to_end(block_id, last=False)

    def is_free(self, block_id: int) -> bool:
        return self._references[block_id] == 0

    def references(self, block_id: int) -> int:
        return self._references[block_id]

    def register(self, block_id: int, block_hash: bytes) -> bool:
        """Make a full block findable; the first block with a hash keeps it.

        Returns whether it was this block.
        """
        if block_hash in self._block_of:
            return False
        self.forget(block_id)
        self._block_of[block_hash] = block_id
        self._hash_of[block_id] = block_hash
        return True

    def hash_of(self, block_id: int) -> bytes | None:
        return self._hash_of[block_id]

    def find(self, block_hash: bytes) -> int | None:
        return self._block_of.get(block_hash)

    def forget(self, block_id: int) -> None:
        """Drop a block's cached identity, because it is reused or was never computed."""
        block_hash = self._hash_of[block_id]
        if block_hash is not None:
            del self._block_of[block_hash]
            self._hash_of[block_id] = None

    def cached(self) -> dict[bytes, int]:
        """A copy of the prefix cache, hash to block; for tests and reports."""
        return dict(self._block_of)
