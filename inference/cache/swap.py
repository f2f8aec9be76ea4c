"""Host memory for the blocks of preempted requests, and whether it pays to use it.

A preempted request can be recomputed, or its blocks are copied to host memory and back.
Which is cheaper depends on model and machine, so both are measured while they are done.
Source: Kwon et al. 2023 (PagedAttention), section 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from inference.core import BlockCopies

_NEWEST_SHARE = 0.2


class SwapSpace:
    """Which host blocks are free. Invariant: free + taken + released in this step = total."""

    def __init__(self, num_blocks: int) -> None:
        self.total = num_blocks
        self._free = list(range(num_blocks))
        self._released: list[int] = []
        self._copies = BlockCopies()

    @property
    def num_used(self) -> int:
        return self.total - len(self._free) - len(self._released)

    def take_in(self, block_ids: list[int]) -> list[int] | None:
        """Host blocks that will hold copies of these; None when too few are free."""
        if len(block_ids) > len(self._free):
            return None
        host = [self._free.pop() for _ in block_ids]
        self._copies.out.extend(zip(block_ids, host, strict=True))
        return host

    def give_back(self, host: list[int], block_ids: list[int]) -> None:
        """Let these blocks hold what the host blocks do, which are free afterwards."""
        self._copies.back.extend(zip(host, block_ids, strict=True))
        self.release(host)

    def release(self, host: list[int]) -> None:
        """Free from the next step on: in this one they may still be read."""
        self._released.extend(host)

    def take_copies(self) -> BlockCopies:
        """The copies that the scheduled step begins with."""
        copies, self._copies = self._copies, BlockCopies()
        self._free.extend(self._released)
        self._released.clear()
        return copies


@dataclass
class SwapCosts:
    """Running means of what was measured, in seconds; None until something was."""

    token_s: float | None = None
    """To compute a token among many."""
    block_s: float | None = None
    """To copy a block one way."""

    def computed(self, num_tokens: int, seconds: float) -> None:
        self.token_s = _mean(self.token_s, seconds / num_tokens)

    def copied(self, num_blocks: int, seconds: float) -> None:
        self.block_s = _mean(self.block_s, seconds / num_blocks)

    def prefer_swap(self, num_tokens: int, num_blocks: int) -> bool:
        """Whether two copies cost less than computing again; true while that is unknown."""
        if self.token_s is None or self.block_s is None:
            return True
        return 2 * num_blocks * self.block_s < num_tokens * self.token_s


def _mean(old: float | None, new: float) -> float:
    return new if old is None else old + _NEWEST_SHARE * (new - old)
