"""Blocks of one prompt on their way into this engine's cache, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence

from inference.connector.messages import LayerBlocks
from inference.runner.block_transfer import BlockTransfer


class PeerError(Exception):
    """The prefill engine is away, or sends what is of no use."""


class Incoming:
    """Where a prompt's blocks go, and which have come.

    The thread that receives them writes them beside the steps: the blocks are reserved for them,
    and nothing finds them before the core adopts those that are whole.

    Attributes:
        first_block: those before it were in the cache.
        num_blocks: those before it counted.
    """

    def __init__(self, blocks: BlockTransfer, block_ids: Sequence[int], first_block: int) -> None:
        self.first_block = first_block
        self.num_blocks = len(block_ids)
        self._blocks = blocks
        self._block_ids = list(block_ids)
        self._come = [first_block] * blocks.num_layers

    @property
    def num_whole(self) -> int:
        """The first blocks of which every layer is there."""
        return min(self._come)

    @property
    def size(self) -> int:
        """Bytes of all that is to come."""
        return self._blocks.size(self.num_blocks - self.first_block)

    def place(self, part: LayerBlocks) -> tuple[int, int]:
        """Where a part lies in shared memory, and how long it is.

        Raises:
            PeerError: when it is not the next one of its layer.
        """
        self._check(part)
        wanted, block = self.num_blocks - self.first_block, part.first_block - self.first_block
        return (
            self._blocks.place(part.layer, block, wanted),
            self._blocks.layer_size(part.layer, part.num_blocks),
        )

    def take(self, part: LayerBlocks, data: bytes | memoryview) -> None:
        """Write a part into the cache.

        Raises:
            PeerError: when it is not the next one of its layer, or of another size.
        """
        end = self._check(part)
        try:
            self._blocks.write_layer(part.layer, self._block_ids[part.first_block : end], data)
        except ValueError as error:
            raise PeerError(f"layer {part.layer}: {error}") from error
        self._come[part.layer] = end

    def _check(self, part: LayerBlocks) -> int:
        """The block after the part's last."""
        if not 0 <= part.layer < len(self._come):
            raise PeerError(f"layer {part.layer} of {len(self._come)}")
        if part.first_block != self._come[part.layer]:
            due = self._come[part.layer]
            raise PeerError(f"block {part.first_block} of layer {part.layer} where {due} is due")
        end = part.first_block + part.num_blocks
        if not part.first_block < end <= self.num_blocks:
            raise PeerError(f"blocks {part.first_block} to {end} of {self.num_blocks}")
        return end
