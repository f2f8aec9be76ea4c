"""How blocks travel: inside the message, or in a segment of shared memory."""

from __future__ import annotations

from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory

from inference.connector.messages import PrefillAnswer


def pack(num_blocks: int, data: bytes, *, shared_memory: bool) -> PrefillAnswer:
    """An answer with the blocks; one in shared memory is the receiver's to remove."""
    if not shared_memory or not data:
        return PrefillAnswer(num_blocks, data)
    segment = SharedMemory(create=True, size=len(data))
    assert segment.buf is not None
    segment.buf[: len(data)] = data
    name = segment.name
    # Python would remove it when this process ends, and complain when another has.
    resource_tracker.unregister(segment._name, "shared_memory")  # type: ignore[attr-defined]
    segment.close()
    return PrefillAnswer(num_blocks, segment=name)


def unpack(answer: PrefillAnswer, size: int) -> bytes:
    """The bytes of an answer.

    Args:
        size: how many there are; a segment is rounded up to whole pages.
    Raises:
        FileNotFoundError: when the segment is gone, as after a peer on another host.
    """
    if not answer.segment:
        return answer.data
    segment = SharedMemory(answer.segment)
    try:
        assert segment.buf is not None
        return bytes(segment.buf[:size])
    finally:
        segment.close()
        segment.unlink()
