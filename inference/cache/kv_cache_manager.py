"""Block tables of requests, and prefix reuse between them.

Speaks of requests and tokens; `BlockPool` below it speaks of blocks only. A full block
becomes findable when the step that computes it is *scheduled*: in a step every layer
writes all new keys and values before attention reads any, so a second request of the
same step may already share it. A step that fails takes its registrations back
(`forget_uncomputed`).
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Sequence

from inference.cache.block_pool import BlockPool
from inference.cache.state_slots import NO_SLOT, StateSlots
from inference.cache.swap import SwapCosts, SwapSpace
from inference.core import Request

Checksums = Callable[[Sequence[int]], list[int]]
"""One number for each of the given blocks, of what they hold."""


class KVCacheManager:
    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        *,
        prefix_cache: bool = True,
        checksums: Checksums | None = None,
        swap_blocks: int = 0,
        window: int | None = None,
        num_states: int = 0,
    ) -> None:
        """
        Args:
            checksums: with them, cached blocks are verified before they are used again.
            window: of a model whose every layer attends to its last so many tokens only: a block
                that no later token attends to is released.
            num_states: how many sequences can run, of a model whose layers keep a state of each.
                Blocks hold no state, so such a model shares no prefix and swaps nothing.
        """
        self._window = window
        self.states = StateSlots(num_states)
        self.swap_space = SwapSpace(swap_blocks)
        self.swap_costs = SwapCosts()
        self.pool = BlockPool(num_blocks)
        self.block_size = block_size
        self._prefix_cache = prefix_cache and not num_states
        self._checksums = checksums
        self._checksum_of: dict[bytes, int] = {}
        """By block hash; of cached blocks that were computed while this was on."""
        self._unsummed: list[bytes] = []
        self.checksum_mismatches = 0
        self.prefix_tokens_asked = 0
        self.prefix_tokens_hit = 0

    def find_prefix(self, request: Request) -> list[int]:
        """The longest chain of cached blocks that starts this request.

        At least the last known token stays to be computed, since its logits are needed; of
        a request that wants an embedding all tokens do, since their hidden states are.
        Nothing is found for a request with more than that in host memory.
        """
        if not self._prefix_cache or request.wants_embedding:
            return []
        usable = (request.num_tokens - 1) // self.block_size
        self._extend_hashes(request, usable)
        found: list[int] = []
        for block_hash in request.block_hashes[:usable]:
            block_id = self.pool.find(block_hash)
            if block_id is None:
                break
            found.append(block_id)
        return found if len(found) * self.block_size >= request.swapped_tokens else []

    def hashes(self, request: Request, num_blocks: int) -> list[bytes]:
        """Of the request's first so many full blocks; each covers all before it."""
        self._extend_hashes(request, num_blocks)
        return request.block_hashes[:num_blocks]

    def is_intact(self, prefix: list[int]) -> bool:
        """Whether cached blocks still hold what was computed; one that does not is forgotten.

        Blocks that this very step computes have no checksum yet, and are taken as they are.
        """
        if self._checksums is None or not prefix:
            return True
        expected = [
            self._checksum_of.get(self.pool.hash_of(block_id) or b"") for block_id in prefix
        ]
        intact = True
        for block_id, known, found in zip(prefix, expected, self._checksums(prefix), strict=True):
            if known is not None and known != found:
                self.pool.forget(block_id)
                self.checksum_mismatches += 1
                intact = False
        return intact

    def remember_checksums(self) -> None:
        """After a step: note the checksums of the blocks that it made findable."""
        if self._checksums is None or not self._unsummed:
            return
        found = {h: b for h in self._unsummed if (b := self.pool.find(h)) is not None}
        if found:
            self._checksum_of.update(zip(found, self._checksums(list(found.values())), strict=True))
        self._unsummed.clear()
        if len(self._checksum_of) > 2 * self.pool.total:
            cached = self.pool.cached()
            self._checksum_of = {h: s for h, s in self._checksum_of.items() if h in cached}

    def can_hold(self, request: Request, prefix: list[int]) -> bool:
        """Whether all known tokens and the next one fit, were `prefix` shared, and the state."""
        if not self.states.can_take:
            return False
        revived = sum(self.pool.is_free(block_id) for block_id in prefix)
        missing = self.blocks_for(request.num_tokens + 1) - len(prefix)
        return missing <= self.pool.num_free - revived

    def start(self, request: Request, prefix: list[int], num_new_tokens: int) -> None:
        """Give a request without blocks its cached `prefix`, or what of it is in host memory,
        and room for more tokens.

        The caller has asked `can_hold`.
        """
        assert not request.block_ids
        request.state_slot = self.states.take()
        if request.host_block_ids and not prefix:
            restored = self.pool.take(len(request.host_block_ids))
            assert restored is not None
            self.swap_space.give_back(request.host_block_ids, restored)
            request.block_ids, request.num_computed = restored, request.swapped_tokens
            request.host_block_ids, request.swapped_tokens = [], 0
        else:
            self.drop_swapped(request)
            self.pool.share(prefix)
            request.block_ids = list(prefix)
            request.num_computed = len(prefix) * self.block_size
            request.num_registered = len(prefix)
        fits = self.grow(request, num_new_tokens)
        assert fits
        self.prefix_tokens_asked += request.num_tokens
        self.prefix_tokens_hit += request.num_computed

    def reserve(self, request: Request, prefix: list[int], num_blocks: int) -> bool:
        """Give a request without blocks its cached `prefix` and `num_blocks` more, which somebody
        else fills: they are not findable before `adopt`.

        Returns False, with nothing changed, when too few are free.
        """
        assert not request.block_ids
        revived = sum(self.pool.is_free(block_id) for block_id in prefix)
        if num_blocks > self.pool.num_free - revived:
            return False
        self.pool.share(prefix)
        taken = self.pool.take(num_blocks)
        assert taken is not None
        request.block_ids = [*prefix, *taken]
        request.num_computed = len(prefix) * self.block_size
        request.num_registered = len(prefix)
        return True

    def adopt(self, request: Request, num_blocks: int) -> None:
        """The first so many blocks of a request that has reserved them are filled: findable."""
        request.num_computed = num_blocks * self.block_size
        if self._prefix_cache:
            self._register_full_blocks(request, num_blocks)

    def grow(self, request: Request, num_new_tokens: int) -> bool:
        """Make room for the next `num_new_tokens` after the computed ones.

        Some of them may be draft tokens; a block with one in it is not findable.

        Returns False, with nothing changed, when the pool is too full even after
        evicting every cached block without a reference.
        """
        self._release_before_window(request)
        end = request.num_computed + num_new_tokens
        missing = -(-end // self.block_size) - len(request.block_ids)
        if missing > 0:
            blocks = self.pool.take(missing)
            if blocks is None:
                return False
            request.block_ids.extend(blocks)
        if self._prefix_cache:
            self._register_full_blocks(request, min(end, request.num_tokens) // self.block_size)
        return True

    def swap_out(self, request: Request) -> bool:
        """Keep what a running request has computed in host memory, if there is room and it pays.

        Its blocks are still its own; the copies are made before the next step computes.
        """
        blocks = request.block_ids[: self.blocks_for(request.num_computed)]
        if not blocks or request.wants_embedding or request.num_released or request.state_slot:
            return False
        if not self.swap_costs.prefer_swap(request.num_computed, len(blocks)):
            return False
        host = self.swap_space.take_in(blocks)
        if host is None:
            return False
        request.host_block_ids, request.swapped_tokens = host, request.num_computed
        return True

    def drop_swapped(self, request: Request) -> None:
        """Forget what of a request is in host memory."""
        self.swap_space.release(request.host_block_ids)
        request.host_block_ids, request.swapped_tokens = [], 0

    def free(self, request: Request) -> None:
        """Drop all of a request's blocks and its state; what is cached of the blocks stays
        findable."""
        self.states.release(request.state_slot)
        request.state_slot = NO_SLOT
        self.pool.release(request.block_ids[request.num_released :])
        request.block_ids = []
        request.num_computed = request.num_registered = request.num_released = 0

    def forget_uncomputed(self, request: Request) -> None:
        """After a failed step: blocks that were never computed cannot be found."""
        computed = request.num_computed // self.block_size
        for block_id in request.block_ids[computed:]:
            self.pool.forget(block_id)
        request.num_registered = min(request.num_registered, computed)

    def waste(self, running: Sequence[Request]) -> float:
        """The share of the slots held by these requests that holds no token, 0 to 1."""
        released = sum(request.num_released for request in running) * self.block_size
        held = sum(len(request.block_ids) for request in running) * self.block_size - released
        filled = sum(request.num_computed for request in running) - released
        return 1 - filled / held if held else 0.0

    def blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self.block_size)

    def _release_before_window(self, request: Request) -> None:
        """Release the blocks that no token from the next one on attends to. Their numbers stay in
        the table, for its order: what lies there is masked."""
        if self._window is None:
            return
        unused = max(0, request.num_computed - self._window + 1) // self.block_size
        if unused > request.num_released:
            self.pool.release(request.block_ids[request.num_released : unused])
            request.num_released = unused

    def _register_full_blocks(self, request: Request, count: int) -> None:
        """Make the first `count` blocks findable."""
        if request.num_registered >= count:
            return
        self._extend_hashes(request, count)
        for index in range(request.num_registered, count):
            block_hash = request.block_hashes[index]
            new = self.pool.register(request.block_ids[index], block_hash)
            if new and self._checksums is not None:
                self._checksum_of.pop(block_hash, None)
                self._unsummed.append(block_hash)
        request.num_registered = count

    def _extend_hashes(self, request: Request, num_blocks: int) -> None:
        """Chain the hashes of the request's first `num_blocks` full blocks.

        A hash covers the salt, the adapter, every token before it and the images that they stand
        for, so equal hashes mean equal keys and values; 128 bits of BLAKE2b make a collision
        across organizations unreachable. The salt enters at the first block that is not all of
        the product's own text: what a tenant wrote is in salted blocks only.
        """
        hashes = request.block_hashes
        public = request.public_tokens // self.block_size
        parent = hashes[-1] if hashes else _digest(request.adapter_key.encode(), b"kv-adapter")
        for index in range(len(hashes), num_blocks):
            if index == public:
                parent = _digest(parent + request.cache_salt.encode(), b"kv-salt")
            begin, end = index * self.block_size, (index + 1) * self.block_size
            shown = b"".join(image.key for image in request.images if image.overlaps(begin, end))
            tokens = array("I", request.token_ids[begin:end]).tobytes()
            parent = _digest(parent + tokens + shown, b"kv-block")
            hashes.append(parent)


def _digest(content: bytes, purpose: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16, person=purpose).digest()
