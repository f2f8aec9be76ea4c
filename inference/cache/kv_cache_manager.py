"""Block tables of requests, and prefix reuse between them.

Speaks of requests and tokens; `LayerGroup` below it of the blocks of layers of one kind, and
`BlockPool` of blocks only. A full block becomes findable when the step that computes it is
*scheduled*: in a step every layer writes all new keys and values before attention reads any, so a
second request of the same step may already share it. A step that fails takes its registrations
back (`forget_uncomputed`).
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inference.cache import block_checks
from inference.cache.block_pool import BlockPool
from inference.cache.layer_group import LayerGroup
from inference.cache.state_slots import NO_SLOT, StateSlots
from inference.cache.swap import SwapCosts, SwapSpace
from inference.core import Request, WindowedBlocks

Checksums = Callable[[Sequence[int], int], list[int]]
"""One number for each of the given blocks of a group, of what they hold."""


@dataclass(frozen=True)
class Prefix:
    """Cached blocks that a request can begin with."""

    blocks: tuple[list[int], ...]
    """Of each group of layers: the first has all of the prefix, one with a window the last ones."""

    def __len__(self) -> int:
        """How many blocks of tokens."""
        return len(self.blocks[0])

    def first(self, num_blocks: int) -> Prefix:
        """Its beginning, of a model whose layers are one group."""
        [whole] = self.blocks
        return Prefix((whole[:num_blocks],))


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
        windowed: WindowedBlocks | None = None,
        num_states: int = 0,
    ) -> None:
        """
        Args:
            checksums: with them, cached blocks are verified before they are used again.
            window: of a model whose every layer attends to its last so many tokens only: a block
                that no later token attends to is released.
            windowed: the blocks of layers that do so beside others that see all, where they have
                blocks of their own. Such a model swaps nothing.
            num_states: how many sequences can run, of a model whose layers keep a state of each.
                Blocks hold no state, so such a model shares no prefix and swaps nothing.
        """
        if windowed is not None and swap_blocks:
            raise ValueError("blocks of two groups of layers are not swapped")
        self.states = StateSlots(num_states)
        self.swap_space = SwapSpace(swap_blocks)
        self.swap_costs = SwapCosts()
        self.block_size = block_size
        self._prefix_cache = prefix_cache and not num_states
        sums = [_of_group(checksums, index) for index in range(2)]
        groups = [LayerGroup(0, num_blocks, block_size, window=window, checksums=sums[0])]
        if windowed is not None:
            own = {"window": windowed.window, "most": windowed.most}
            groups.append(LayerGroup(1, windowed.num_blocks, block_size, **own, checksums=sums[1]))
        self.groups = tuple(groups)
        """Of all layers; or of those that see all, and of those with a window."""
        self.prefix_tokens_asked = 0
        self.prefix_tokens_hit = 0

    @property
    def pool(self) -> BlockPool:
        """Of all layers, or of those that see all."""
        return self.groups[0].pool

    @property
    def num_free(self) -> int:
        """Blocks of tokens for which every group has room."""
        return min(group.pool.num_free for group in self.groups)

    @property
    def blocks_used(self) -> int:
        """Of `pool`; where another group's is fuller, the same share of this one."""
        shares = (group.pool.num_used / group.pool.total for group in self.groups)
        return round(max(shares) * self.pool.total)

    @property
    def checksum_mismatches(self) -> int:
        return sum(group.checks.mismatches for group in self.groups if group.checks is not None)

    def find_prefix(self, request: Request) -> Prefix:
        """The longest beginning of this request for which every group of layers has cached what it
        attends to.

        At least the last known token stays to be computed, since its logits are needed; of
        a request that wants an embedding all tokens do, since their hidden states are.
        Nothing is found for a request with more than that in host memory.
        """
        nothing = Prefix(tuple([] for _ in self.groups))
        if not self._prefix_cache or request.wants_embedding:
            return nothing
        usable = (request.num_tokens - 1) // self.block_size
        self._extend_hashes(request, usable)
        found = [self.groups[0].whole_prefix(request.block_hashes[:usable])]
        for group in self.groups[1:]:
            count, last = group.usable_prefix(request.block_hashes[: len(found[0])])
            found = [found[0][:count], last]
        prefix = Prefix(tuple(found))
        return prefix if len(prefix) * self.block_size >= request.swapped_tokens else nothing

    def hashes(self, request: Request, num_blocks: int) -> list[bytes]:
        """Of the request's first so many full blocks; each covers all before it."""
        self._extend_hashes(request, num_blocks)
        return request.block_hashes[:num_blocks]

    def is_intact(self, prefix: Prefix) -> bool:
        """Whether cached blocks still hold what was computed; one that does not is forgotten."""
        checks = [group.checks for group in self.groups]
        pairs = zip(checks, prefix.blocks, strict=True)
        return all(check is None or check.are_intact(blocks) for check, blocks in pairs)

    def remember_checksums(self) -> None:
        """After a step: note the checksums of the blocks that it made findable."""
        for group in self.groups:
            if group.checks is not None:
                group.checks.remember()

    def can_hold(self, request: Request, prefix: Prefix, beside: Sequence[Request] = ()) -> bool:
        """Whether all known tokens and the next one fit, were `prefix` shared, and the state; also
        once the requests `beside` it have the blocks of all of their tokens."""
        return self.states.can_take and all(
            group.can_hold(request.num_tokens + 1, blocks, len(prefix), beside)
            for group, blocks in zip(self.groups, prefix.blocks, strict=True)
        )

    def start(self, request: Request, prefix: Prefix, num_new_tokens: int) -> None:
        """Give a request without blocks its cached `prefix`, or what of it is in host memory,
        and room for more tokens.

        The caller has asked `can_hold`.
        """
        assert not request.block_ids
        request.state_slot = self.states.take()
        if request.host_block_ids and not prefix:
            [group] = self.groups
            group.take(request, len(request.host_block_ids))
            self.swap_space.give_back(request.host_block_ids, request.block_ids)
            request.num_computed = request.swapped_tokens
            request.host_block_ids, request.swapped_tokens = [], 0
        else:
            self.drop_swapped(request)
            self._begin(request, prefix)
        fits = self.grow(request, num_new_tokens)
        assert fits
        self.prefix_tokens_asked += request.num_tokens
        self.prefix_tokens_hit += request.num_computed

    def reserve(self, request: Request, prefix: Prefix, num_blocks: int) -> bool:
        """Give a request without blocks its cached `prefix` and `num_blocks` more, which somebody
        else fills: they are not findable before `adopt`. Of a model whose layers are one group.

        Returns False, with nothing changed, when too few are free.
        """
        assert not request.block_ids
        [group] = self.groups
        end = (len(prefix) + num_blocks) * self.block_size
        if not group.can_hold(end, prefix.blocks[0], len(prefix)):
            return False
        self._begin(request, prefix)
        group.take(request, num_blocks)
        return True

    def adopt(self, request: Request, num_blocks: int) -> None:
        """The first so many blocks of a request that has reserved them are filled: findable."""
        request.num_computed = num_blocks * self.block_size
        if self._prefix_cache:
            self._register_full_blocks(request, num_blocks)

    def grow(self, request: Request, num_new_tokens: int) -> bool:
        """Make room for the next `num_new_tokens` after the computed ones.

        Some of them may be draft tokens; a block with one in it is not findable.

        Returns False, with nothing taken, when a pool is too full even after
        evicting every cached block without a reference.
        """
        end = request.num_computed + num_new_tokens
        wanted = -(-end // self.block_size)
        lacking: list[tuple[LayerGroup, int]] = []
        for group in self.groups:
            group.release_unseen(request)
            missing = wanted - len(group.table(request).block_ids)
            if missing > group.pool.num_free:
                return False
            if missing > 0:
                lacking.append((group, missing))
        for group, missing in lacking:
            group.take(request, missing)
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
        for group in self.groups:
            group.free(request)
        request.num_computed = 0

    def forget_uncomputed(self, request: Request) -> None:
        """After a failed step: blocks that were never computed cannot be found."""
        for group in self.groups:
            group.forget_after(request, request.num_computed // self.block_size)

    def waste(self, running: Sequence[Request]) -> float:
        """The share of the slots held by these requests that holds no token, 0 to 1."""
        held = filled = 0
        for group in self.groups:
            for request in running:
                table = group.table(request)
                released = table.num_released * self.block_size
                held += len(table.block_ids) * self.block_size - released
                filled += request.num_computed - released
        return 1 - filled / held if held else 0.0

    def blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self.block_size)

    def _begin(self, request: Request, prefix: Prefix) -> None:
        for group, blocks in zip(self.groups, prefix.blocks, strict=True):
            group.begin(request, blocks, len(prefix))
        request.num_computed = len(prefix) * self.block_size

    def _register_full_blocks(self, request: Request, count: int) -> None:
        """Make the first `count` blocks findable."""
        if request.tables[0].num_registered >= count:
            return
        self._extend_hashes(request, count)
        for group in self.groups:
            group.register(request, count)

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


def _of_group(checksums: Checksums | None, group: int) -> block_checks.Checksums | None:
    return None if checksums is None else lambda block_ids: checksums(block_ids, group)


def _digest(content: bytes, purpose: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16, person=purpose).digest()
