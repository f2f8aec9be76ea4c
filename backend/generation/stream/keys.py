"""Every Redis key of the gateway. The hash tag keeps a generation's keys in one slot."""

from uuid import UUID

# Sorted set: generation id by the end of its lease, in milliseconds of Redis' clock.
LEASES = "gateway:leases"
# Sorted set: process id by the end of its presence.
PROCESSES = "gateway:processes"
# Hash: "<pool>/<replica>" to the JSON of its health.
HEALTH = "gateway:health"


def events(generation_id: UUID) -> str:
    """Stream: entry `<seq>-0`, fields `d` (the event) and `m` (EventMeta)."""
    return f"gen:{{{generation_id}}}:events"


def lease(generation_id: UUID) -> str:
    """Who may append: `<epoch>:<process id>`."""
    return f"gen:{{{generation_id}}}:lease"


def request(generation_id: UUID) -> str:
    """What another process needs to take the generation up: OpenGeneration, msgpack."""
    return f"gen:{{{generation_id}}}:request"


def cancelled(generation_id: UUID) -> str:
    """Set when somebody asked to cancel."""
    return f"gen:{{{generation_id}}}:cancel"


def watched(generation_id: UUID) -> str:
    """Set, and renewed, while another process has readers of it."""
    return f"gen:{{{generation_id}}}:watched"


def claim(generation_id: UUID) -> str:
    """Set by the process that is about to take the generation up."""
    return f"gen:{{{generation_id}}}:claim"


def control(process_id: str) -> str:
    """Stream: messages to one process, read together with the events it follows."""
    return f"gateway:control:{process_id}"
