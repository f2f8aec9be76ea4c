"""The blocks of layers of one kind: their pool, and each request's table of them.

Layers with a window need the blocks of their last tokens only. Where a model has such layers beside
others that see all, the two kinds are two groups, and a token's keys and values lie in a block of
each. Source: the hybrid KV cache manager of vLLM.
"""

from __future__ import annotations

from collections.abc import Sequence

from inference.cache.block_checks import BlockChecks, Checksums
from inference.cache.block_pool import BlockPool
from inference.core import BlockTable, Request

_NOWHERE = 0
"""Stands in a table for a block that no token attends to any more: what lies there is masked."""


class LayerGroup:
    def __init__(
        self,
        index: int,
        num_blocks: int,
        block_size: int,
        *,
        window: int | None = None,
        most: int | None = None,
        checksums: Checksums | None = None,
    ) -> None:
        """
        Args:
            index: which of a request's tables is this group's.
            window: how many last tokens its layers attend to; all where None.
            most: a request holds no more blocks at once; None: as many as its tokens fill.
            checksums: with them, cached blocks are verified before they are used again.
        """
        self.pool = BlockPool(num_blocks)
        self.checks = BlockChecks(self.pool, checksums) if checksums is not None else None
        self._index = index
        self._block_size = block_size
        self._window = window
        self._most = most

    def table(self, request: Request) -> BlockTable:
        return request.tables[self._index]

    def whole_prefix(self, hashes: Sequence[bytes]) -> list[int]:
        """The longest chain of cached blocks with the first of these hashes."""
        found: list[int] = []
        for block_hash in hashes:
            block_id = self.pool.find(block_hash)
            if block_id is None:
                break
            found.append(block_id)
        return found

    def usable_prefix(self, hashes: Sequence[bytes]) -> tuple[int, list[int]]:
        """How many of these blocks, from the first on, these layers can go on after, and the last
        ones of them: all that they attend to then."""
        end = first = len(hashes)
        while first > self._first_seen(end * self._block_size):
            first -= 1
            if self.pool.find(hashes[first]) is None:
                end = first
        return end, self.whole_prefix(hashes[first:end])

    def can_hold(
        self,
        num_tokens: int,
        prefix: Sequence[int],
        prefix_blocks: int,
        beside: Sequence[Request] = (),
    ) -> bool:
        """Whether so many tokens fit, were `prefix` shared, the last ones of `prefix_blocks`; also
        once the requests `beside` them have all of their blocks."""
        revived = sum(self.pool.is_free(block_id) for block_id in prefix)
        missing = self._blocks_for(num_tokens) - prefix_blocks
        if self._most is not None:
            missing = min(missing, self._most - len(prefix))
        promised = sum(map(self._lacking, beside))
        return missing <= self.pool.num_free - revived - promised

    def _lacking(self, request: Request) -> int:
        """Blocks that a request does not have yet for its known tokens and the next one."""
        table = self.table(request)
        missing = self._blocks_for(request.num_tokens + 1) - len(table.block_ids)
        if self._most is not None:
            missing = min(missing, self._most - (len(table.block_ids) - table.num_released))
        return max(0, missing)

    def begin(self, request: Request, prefix: Sequence[int], prefix_blocks: int) -> None:
        """Give a request without blocks these cached ones, the last of `prefix_blocks`."""
        self.pool.share(prefix)
        table, released = self.table(request), prefix_blocks - len(prefix)
        table.block_ids = [*[_NOWHERE] * released, *prefix]
        table.num_registered, table.num_released = prefix_blocks, released

    def take(self, request: Request, count: int) -> None:
        """Give a request so many blocks more. The caller has seen that they are free."""
        taken = self.pool.take(count)
        assert taken is not None
        self.table(request).block_ids.extend(taken)

    def release_unseen(self, request: Request) -> None:
        """Release the blocks that no token from the next one on attends to. Their numbers stay in
        the table, for its order."""
        if self._window is None:
            return
        table, unseen = self.table(request), self._first_seen(request.num_computed)
        if unseen > table.num_released:
            self.pool.release(table.block_ids[table.num_released : unseen])
            table.num_released = unseen

    def register(self, request: Request, count: int) -> None:
        """Make the first `count` blocks findable by the request's hashes."""
        table = self.table(request)
        for index in range(table.num_registered, count):
            block_hash = request.block_hashes[index]
            new = self.pool.register(table.block_ids[index], block_hash)
            if new and self.checks is not None:
                self.checks.registered(block_hash)
        table.num_registered = max(table.num_registered, count)

    def forget_after(self, request: Request, computed: int) -> None:
        """Blocks after so many cannot be found: they were never computed."""
        table = self.table(request)
        for block_id in table.block_ids[computed:]:
            self.pool.forget(block_id)
        table.num_registered = min(table.num_registered, computed)

    def free(self, request: Request) -> None:
        """Drop all of a request's blocks; what is cached of them stays findable."""
        table = self.table(request)
        self.pool.release(table.block_ids[table.num_released :])
        table.block_ids = []
        table.num_registered = table.num_released = 0

    def _first_seen(self, num_tokens: int) -> int:
        """The first block that a token after so many attends to."""
        if self._window is None:
            return 0
        return max(0, num_tokens - self._window + 1) // self._block_size

    def _blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self._block_size)
