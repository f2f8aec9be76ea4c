"""Every Redis key of the stream buffer.

Generations are dealt over shards, and all keys of a shard carry its number as hash tag: they lie in
one slot of a cluster, so that a script may touch a generation together with its shard's leases, and
many generations of the shard at once. One server needs one shard only.
"""

from uuid import UUID

from django.conf import settings

# Sorted set: process id by the end of its presence. Of no shard: nothing is touched with it.
PROCESSES = "generation:processes"


def shards() -> range:
    return range(settings.STREAM_SHARDS)


def shard_of(generation_id: UUID) -> int:
    """Of UUIDs of any version the last bits are random."""
    return generation_id.int % int(settings.STREAM_SHARDS)


def leases(shard: int) -> str:
    """Sorted set: generation id by the end of its lease, in milliseconds of Redis' clock."""
    return f"generation:leases:{{{shard}}}"


def since(shard: int) -> str:
    """Since when Redis has had its memory, by its own clock."""
    return f"generation:since:{{{shard}}}"


def control(process_id: str, shard: int) -> str:
    """Stream: messages to one process, read together with the events it follows in the shard."""
    return f"generation:control:{{{shard}}}:{process_id}"


def events(generation_id: UUID) -> str:
    """Stream: entry `<seq>-0`, fields `d` (the event) and `m` (EventMeta)."""
    return f"{_generation(generation_id)}:events"


def lease(generation_id: UUID) -> str:
    """Who may append: `<epoch>:<process id>`."""
    return f"{_generation(generation_id)}:lease"


def request(generation_id: UUID) -> str:
    """What another process needs to continue the generation: AdmittedGeneration, msgpack."""
    return f"{_generation(generation_id)}:request"


def cancelled(generation_id: UUID) -> str:
    """Set when its owner asked to cancel."""
    return f"{_generation(generation_id)}:cancel"


def readers(generation_id: UUID) -> str:
    """Set, and renewed, while another process has readers of it."""
    return f"{_generation(generation_id)}:readers"


def claim(generation_id: UUID) -> str:
    """Set by the process that is about to continue the generation."""
    return f"{_generation(generation_id)}:claim"


def _generation(generation_id: UUID) -> str:
    return f"gen:{{{shard_of(generation_id)}}}:{generation_id}"
