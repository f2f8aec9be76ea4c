"""How a page comes to run a program: the protocol with the pages of the person who asked.

A call that may be made is offered to every page that shows its chat. One of them claims it
(`run_claim`) and says again and again that it is at it (`run_renew`); it ends with `run_finish`
(rounds.py), or gives the call back (`run_release`). What no page claims, or pages leave too often,
is given up by the round's next step (`given_up`). A program changes nothing outside its sandbox, so
that one whose page has left may be run again. Everything is under the lock of the round.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.conversations.notify import notify
from backend.platform.errors import Conflict, NotFound
from backend.tools.approvals import calls_of
from backend.tools.models import CallStatus, ToolCall, ToolRound
from backend.tools.waking import round_wake

WAITS = timedelta(minutes=10)
"""How long a call waits for a page."""
LEASE = timedelta(seconds=20)
LONGEST = timedelta(minutes=5)
"""From a claim to its end, with all that a page has to load before."""
MAX_RUNS = 3
OPEN = (CallStatus.DUE, CallStatus.RUNNING)


def given_up(call: ToolCall) -> str:
    """Why a page's open call will not be made any more; "" where it may be. One whose page has
    left is due again."""
    if call.run_until is None:
        _offer(call)
    assert call.run_until is not None
    if call.run_until > timezone.now():
        return ""
    if call.status == CallStatus.DUE:
        return "Not run: no page was open."
    if call.runs >= MAX_RUNS:
        return "Not run: page closed."
    _offer(call)
    return ""


def looked_at_next(calls: Sequence[ToolCall]) -> datetime | None:
    """When the first of the pages' open calls lapses; None where none is open."""
    ends = [call.run_until for call in calls if call.is_of_page and call.status in OPEN]
    return min((end for end in ends if end is not None), default=None)


@transaction.atomic
def run_claim(*, principal: Principal, tool_call_id: UUID) -> ToolCall:
    """A due call becomes the caller's to run, and nobody else's: `run_id` names the run.

    Raises:
        NotFound. Conflict: another page runs it, or it is not to be made (any more).
    """
    call = call_locked(principal, tool_call_id)
    if call.status != CallStatus.DUE or not call.is_of_page or not _is_shown(call):
        raise Conflict("This program is not to be run here.", code="tool_call_not_due")
    now = timezone.now()
    call.status, call.started_at = CallStatus.RUNNING, now
    call.run_id, call.run_until, call.runs = uuid4(), now + LEASE, call.runs + 1
    call.save(update_fields=["status", "started_at", "run_id", "run_until", "runs"])
    round_wake(call.round)  # which is to be looked at when this lease lapses
    _changed(call)
    return call


@transaction.atomic
def run_renew(*, principal: Principal, tool_call_id: UUID, run_id: UUID) -> None:
    """The page is still at it. Raises NotFound; Conflict: the run is not its own any more."""
    call = run_locked(principal, tool_call_id, run_id)
    now = timezone.now()
    call.status = CallStatus.RUNNING
    call.run_until = min(now + LEASE, (call.started_at or now) + LONGEST)
    call.save(update_fields=["status", "run_until"])


@transaction.atomic
def run_release(*, principal: Principal, tool_call_id: UUID, run_id: UUID) -> None:
    """The page leaves: another may run it. Raises NotFound, Conflict."""
    call = run_locked(principal, tool_call_id, run_id)
    call.run_until = timezone.now()
    call.save(update_fields=["run_until"])
    round_wake(call.round)


def call_locked(principal: Principal, tool_call_id: UUID) -> ToolCall:
    """A call of the caller's own chats, its round locked. Raises NotFound."""
    found = calls_of(principal).filter(pk=tool_call_id).first()
    if found is None:
        raise NotFound(f"There is no tool call {tool_call_id}.")
    ToolRound.objects.select_for_update(of=("self",)).get(pk=found.round_id)
    rows = calls_of(principal).select_related("tool__server", "round__message__conversation")
    return rows.get(pk=found.pk)


def run_locked(principal: Principal, tool_call_id: UUID, run_id: UUID) -> ToolCall:
    """A call that this run is of. One that was late is its own as long as no other page has begun.

    Raises:
        NotFound, Conflict.
    """
    call = call_locked(principal, tool_call_id)
    if call.status not in OPEN or call.run_id != run_id:
        raise Conflict("This page does not run this program any more.", code="tool_run_over")
    return call


def _offer(call: ToolCall) -> None:
    """To every page that shows its chat, for a while."""
    call.status, call.run_until = CallStatus.DUE, timezone.now() + WAITS
    call.save(update_fields=["status", "run_until"])


def _is_shown(call: ToolCall) -> bool:
    return call.round.message.conversation.active_message_id == call.round_id


def _changed(call: ToolCall) -> None:
    conversation = call.round.message.conversation
    notify("conversation.changed", user_id=conversation.user_id, conversation_id=conversation.pk)
