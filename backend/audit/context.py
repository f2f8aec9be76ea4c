"""Where the running request comes from. The web process sets it (backend/api/middleware.py); a task
has none. Threads that `in_database` and asgiref start inherit it."""

from contextvars import ContextVar
from dataclasses import dataclass

_USER_AGENT_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Origin:
    address: str = ""
    user_agent: str = ""


_origin: ContextVar[Origin] = ContextVar("audit_origin")


def origin_set(*, address: str, user_agent: str) -> None:
    """From here on, in this request: the client's address (a trusted proxy's already resolved)."""
    _origin.set(Origin(address[:45], user_agent.replace("\x00", "")[:_USER_AGENT_LIMIT]))


def origin_get() -> Origin:
    return _origin.get(Origin())
