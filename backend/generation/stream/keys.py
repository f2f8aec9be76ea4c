"""Every Redis key of the stream buffer. The hash tag keeps a generation's keys in one slot."""

from uuid import UUID

# Sorted set: generation id by the end of its lease, in milliseconds of Redis' clock.
LEASES = "generation:leases"
# Sorted set: process id by the end of its presence.
PROCESSES = "generation:processes"


def events(generation_id: UUID) -> str:
    """Stream: entry `<seq>-0`, fields `d` (the event) and `m` (EventMeta)."""
    return f"gen:{{{generation_id}}}:events"


def lease(generation_id: UUID) -> str:
    """Who may append: `<epoch>:<process id>`."""
    return f"gen:{{{generation_id}}}:lease"


def request(generation_id: UUID) -> str:
    """What another process needs to continue the generation: AdmittedGeneration, msgpack."""
    return f"gen:{{{generation_id}}}:request"


def cancelled(generation_id: UUID) -> str:
    """Set when its owner asked to cancel."""
    return f"gen:{{{generation_id}}}:cancel"


def readers(generation_id: UUID) -> str:
    """Set, and renewed, while another process has readers of it."""
    return f"gen:{{{generation_id}}}:readers"


def claim(generation_id: UUID) -> str:
    """Set by the process that is about to continue the generation."""
    return f"gen:{{{generation_id}}}:claim"


def control(process_id: str) -> str:
    """Stream: messages to one process, read together with the events it follows."""
    return f"generation:control:{process_id}"
