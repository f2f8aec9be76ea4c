"""Blocks of one prompt on their way to the peer that asked, layer by layer while it is computed."""

from __future__ import annotations

from typing import Protocol

from inference.connector.messages import FromPrefill, LayerBlocks, PrefillRequest
from inference.connector.payload import write
from inference.core import Chunk
from inference.runner.block_transfer import BlockTransfer


class Send(Protocol):
    def __call__(self, peer: bytes, message: FromPrefill, data: bytes = b"") -> bool:
        """Whether the peer is still there."""
        ...


class Outgoing:
    """
    Invariant: of every layer the blocks before a point have gone, each once, also when a step fails
    and is computed again.

    Attributes:
        error: why nothing more is sent; empty while it is.
    """

    def __init__(
        self, peer: bytes, request: PrefillRequest, blocks: BlockTransfer, send: Send
    ) -> None:
        self.peer = peer
        self.error = ""
        self._request = request
        self._blocks = blocks
        self._send = send
        self._full = (len(request.token_ids) - 1) // blocks.block_size
        self._gone = [request.first_block] * blocks.num_layers

    @property
    def num_whole(self) -> int:
        """The first blocks of which all layers have gone."""
        return min(self._gone)

    def written(self, chunk: Chunk, num_layers: int) -> None:
        """So many layers of a chunk, and of all before it, are written: send what is new."""
        end = min(chunk.end // self._blocks.block_size, self._full)
        for layer in range(num_layers):
            if self._gone[layer] < end and not self.error:
                self._send_layer(layer, chunk, end)

    def _send_layer(self, layer: int, chunk: Chunk, end: int) -> None:
        begin = self._gone[layer]
        if begin < chunk.request.num_released:
            return  # a window has released blocks that had not gone: the prompt is not sent whole
        data = self._blocks.read_layer(layer, chunk.request.block_ids[begin:end])
        part = LayerBlocks(layer, begin, end - begin)
        if self._request.segment:
            if not self._write(part, data):
                return
            data = b""
        if not self._send(self.peer, part, data):
            self.error = "the peer is gone"
        self._gone[layer] = end

    def _write(self, part: LayerBlocks, data: bytes) -> bool:
        first = self._request.first_block
        place = self._blocks.place(part.layer, part.first_block - first, self._full - first)
        try:
            write(self._request.segment, place, data)
        except (OSError, ValueError) as error:
            self.error = f"the blocks cannot be handed over: {error}"
        return not self.error
