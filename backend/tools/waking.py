"""A round in which something has happened is looked at again."""

from backend.tools.models import CallStatus, RoundState, ServerKind, ToolRound


def round_wake(row: ToolRound) -> None:
    """Have a process look at the round at once; one that makes calls of it looks when they are
    made. Under the round's lock."""
    row.state = RoundState.CALLING
    made_by_processes = row.calls.filter(status=CallStatus.RUNNING).exclude(
        tool__server__kind=ServerKind.PYTHON
    )
    if not made_by_processes.exists():
        row.claimed_until = None
    row.save(update_fields=["state", "claimed_until"])
