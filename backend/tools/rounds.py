"""Rounds: an answer's calls, made and answered, and the turn that goes on with their results.

Every step is one transaction under the round's lock, so that a process may end between any two of
them: another claims the round when its lease lapses, and does what is left. A call that needed
approval, or may change something, and was sent by a lost process is not sent again: nobody knows
whether it was carried out.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import Actor, record
from backend.conversations.models import Message, MessageStatus
from backend.conversations.notify import notify
from backend.conversations.turns import RoomFor, turn_go_on
from backend.conversations.types import Turn
from backend.tools.catalog import offered_name
from backend.tools.models import (
    OPEN_CALLS,
    CallStatus,
    RoundState,
    Tool,
    ToolCall,
    ToolGrant,
    ToolRound,
)
from backend.tools.oauth.tokens import SIGN_IN_AGAIN
from backend.tools.page_runs import OPEN, given_up, looked_at_next, run_locked
from backend.tools.python_tool import Ran, program_of
from backend.tools.servers import address_of
from backend.tools.types import SEARCH_ERROR, SERVER_ERROR, Address, Made, Source
from backend.tools.waking import round_wake
from backend.tools.withheld import output_withheld

MAX_ROUNDS = 8
MAX_CALLS = 8
MAX_TRIES = 3
LEASE = timedelta(seconds=6)

# Every web process asks twice a second, mostly for nothing: one statement, which nobody composes.
_CLAIM = """
WITH free AS MATERIALIZED (
    SELECT round.message_id
    FROM tools_toolround round JOIN conversations_message message ON message.id = round.message_id
    WHERE (round.claimed_until IS NULL OR round.claimed_until < %(now)s)
    AND (
        round.state = %(calling)s
        OR round.state = %(answering)s AND message.status <> %(pending)s
    )
    ORDER BY message.created_at LIMIT %(limit)s
    FOR UPDATE OF round SKIP LOCKED
)
UPDATE tools_toolround round SET claimed_until = %(until)s
FROM free WHERE round.message_id = free.message_id
RETURNING round.message_id
"""


@dataclass(frozen=True, slots=True)
class DueCall:
    """A call to be made now; it is noted as running."""

    id: UUID
    kind: str
    address: Address
    conversation_id: UUID
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done of a round next: calls, or go on with the results, or nothing. Calls that
    pages make are none of it."""

    due: list[DueCall]
    goes_on: bool = False


def round_open(*, message_id: UUID, tools: Sequence[Tool], number: int = 1) -> None:
    """Note what a pending answer is offered."""
    offered = {offered_name(tool): [tool.pk, tool.fingerprint] for tool in tools}
    ToolRound.objects.create(message_id=message_id, number=number, offered=offered)


def rounds_claim(*, limit: int) -> list[UUID]:
    """Rounds in which something is to be done, by the ids of their answers; for LEASE."""
    now = timezone.now()
    parameters: dict[str, Any] = {
        "now": now,
        "until": now + LEASE,
        "calling": RoundState.CALLING,
        "answering": RoundState.ANSWERING,
        "pending": MessageStatus.PENDING,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, parameters)
        return [message_id for (message_id,) in cursor.fetchall()]


def rounds_renew(ids: Sequence[UUID]) -> None:
    ToolRound.objects.filter(pk__in=ids).exclude(claimed_until=None).update(
        claimed_until=timezone.now() + LEASE
    )


@transaction.atomic
def round_step(*, message_id: UUID) -> Step:
    """The next step of a claimed round. Calls in it are noted as running before they are sent."""
    row = round_locked(message_id)
    if row is None or row.state in {RoundState.DONE, RoundState.CANCELLED}:
        return Step([])
    if not _is_current(row.message):
        return _closed(row)
    if row.state == RoundState.ANSWERING and not calls_create(row):
        return _closed(row)
    related = row.calls.select_related("tool__server", "round__message__conversation")
    calls = list(related.order_by("place"))
    for call in calls:
        if call.is_of_page:
            _page_call_step(call)
        elif call.status == CallStatus.RUNNING:
            _after_loss(call)
    at_processes = [call for call in calls if not call.is_of_page]
    due = [one for call in at_processes if call.status == CallStatus.DUE and (one := _begun(call))]
    waits = any(call.status == CallStatus.WAITING for call in calls)
    lapses = looked_at_next(calls)
    row.state = RoundState.WAITING if waits and not due and not lapses else RoundState.CALLING
    if not due and (waits or lapses):
        row.claimed_until = lapses
    row.save(update_fields=["state", "claimed_until"])
    _changed(row.message)
    return Step(due, goes_on=not due and not waits and not lapses)


@transaction.atomic
def call_finish(*, call_id: UUID, made: Made, failed: bool = False) -> None:
    """Note what came of a running call; one that has ended stays as it is."""
    row = (
        ToolCall.objects.select_for_update(of=("self",))
        .select_related("round__message__conversation", "tool")
        .filter(pk=call_id, status=CallStatus.RUNNING)
        .first()
    )
    if row is not None:
        _finished(row, made, failed=failed)


@transaction.atomic
def run_finish(*, principal: Principal, tool_call_id: UUID, run_id: UUID, ran: Ran) -> ToolCall:
    """Note what a page says of the program that it has run. Raises NotFound, Conflict."""
    call = run_locked(principal, tool_call_id, run_id)
    _finished(call, ran.made, failed=ran.failed)
    round_wake(call.round)
    return call


def _finished(row: ToolCall, made: Made, *, failed: bool) -> None:
    _end(row, CallStatus.FAILED if failed else CallStatus.DONE, made.text, made.sources)
    conversation = row.round.message.conversation
    record(
        Action.TOOL_CALLED,
        organization_id=conversation.organization_id,
        actor=Actor(user_id=conversation.user_id),
        target=("tool_call", row.pk),
        project_id=conversation.project_id,
        details={
            "server": row.server_name,
            "tool": row.tool_name,
            "approval": row.decision,
            "failed": failed,
        },
    )
    _changed(row.round.message)


@transaction.atomic
def round_go_on(
    *, message_id: UUID, tools: Sequence[Tool], room_for: RoomFor
) -> tuple[Turn, list[Tool]] | None:
    """The turn that answers the results, and the tools that it is offered; None where the chat has
    gone on otherwise. Happens once for each round.

    Raises:
        InvalidRequest: the chat cannot be gone on with.
    """
    row = round_locked(message_id)
    if row is None or row.state != RoundState.CALLING:
        return None
    calls = list(row.calls.order_by("place"))
    if any(call.status in OPEN_CALLS for call in calls):
        return None
    outputs = [(call.call_id, _output_of(call)) for call in calls]
    turn = turn_go_on(answer=row.message, outputs=outputs, room_for=room_for)
    _close(row)
    if turn is None:
        return None
    offered = list(tools) if row.number < MAX_ROUNDS else []
    if offered:
        round_open(message_id=turn.assistant_message.pk, tools=offered, number=row.number + 1)
    return turn, offered


@transaction.atomic
def round_end(*, message_id: UUID) -> None:
    """Nothing more comes of it: its person may not ask any more, say."""
    row = round_locked(message_id)
    if row is not None and row.state not in {RoundState.DONE, RoundState.CANCELLED}:
        _closed(row)


def round_locked(message_id: UUID) -> ToolRound | None:
    """For a step in the caller's transaction."""
    return (
        ToolRound.objects.select_for_update(of=("self",))
        .select_related("message__conversation")
        .filter(pk=message_id)
        .first()
    )


def _is_current(message: Message) -> bool:
    conversation = message.conversation
    is_leaf = conversation.active_message_id == message.pk
    ended_well = message.status == MessageStatus.COMPLETED
    return is_leaf and ended_well and conversation.deleted_at is None


def calls_create(row: ToolRound) -> bool:
    """Rows for the calls that the answer holds; whether there are any."""
    parts = [part for part in row.message.content if part["type"] == "call"]
    tools = Tool.objects.select_related("server").in_bulk(
        [tool_id for tool_id, _ in row.offered.values()]
    )
    granted = set(
        ToolGrant.objects.filter(
            Q(conversation=None) | Q(conversation=row.message.conversation),
            user_id=row.message.conversation.user_id,
            tool__in=tools,
        ).values_list("tool_id", "fingerprint")
    )
    calls = []
    for place, part in enumerate(parts):
        tool_id, fingerprint = row.offered.get(part["name"], (None, ""))
        tool = tools.get(tool_id)
        call = ToolCall(
            round=row,
            place=place,
            call_id=part["call_id"],
            tool=tool,
            server_name=tool.server.name if tool else "",
            tool_name=tool.name if tool else part["name"][:128],
            fingerprint=fingerprint,
            arguments=part["arguments"],
            status=CallStatus.WAITING,
        )
        problem = _problem(call, place)
        if problem:
            call.status, call.result, call.finished_at = CallStatus.FAILED, problem, timezone.now()
        elif tool is not None and not tool.needs_approval:
            call.status, call.decision = CallStatus.DUE, "policy"
        elif (tool_id, fingerprint) in granted:
            call.status, call.decision = CallStatus.DUE, "granted"
        calls.append(call)
    ToolCall.objects.bulk_create(calls)
    return bool(calls)


def _problem(call: ToolCall, place: int) -> str:
    """Why a call cannot be made; "" where it can."""
    if place >= MAX_CALLS:
        return f"Not called: at most {MAX_CALLS} calls are made at a time."
    if call.tool is None or call.tool.fingerprint != call.fingerprint:
        return "There is no such tool."
    arguments = arguments_of(call)
    if arguments is None:
        return "Not called: the arguments are not a JSON object."
    if call.is_of_page and program_of(arguments) is None:
        return "Not called: code is missing."
    return ""


def arguments_of(call: ToolCall) -> dict[str, Any] | None:
    """None where what the model wrote is no JSON object."""
    try:
        found = json.loads(call.arguments or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _begun(call: ToolCall) -> DueCall | None:
    """`call` as running; None, and failed, where the tool may not be called any more."""
    tool, arguments = call.tool, arguments_of(call)
    if tool is None or arguments is None or not _is_allowed(call):
        _end(call, CallStatus.FAILED, "Tool not available any more.")
        return None
    conversation = call.round.message.conversation
    address = address_of(tool.server, user_id=conversation.user_id)
    if address is None:
        _end(call, CallStatus.FAILED, SIGN_IN_AGAIN)
        return None
    call.status, call.started_at = CallStatus.RUNNING, timezone.now()
    call.runs += 1
    call.save(update_fields=["status", "started_at", "runs"])
    return DueCall(
        id=call.pk,
        kind=tool.server.kind,
        address=address,
        conversation_id=conversation.pk,
        name=tool.name,
        arguments=arguments,
    )


def _is_allowed(call: ToolCall) -> bool:
    tool = call.tool
    as_offered = tool is not None and tool.fingerprint == call.fingerprint
    return tool is not None and as_offered and tool.is_allowed and tool.server.is_enabled


def _page_call_step(call: ToolCall) -> None:
    if call.status not in OPEN:
        return
    problem = given_up(call) if _is_allowed(call) else "Tool not available any more."
    if problem:
        _end(call, CallStatus.FAILED, problem)


def _after_loss(call: ToolCall) -> None:
    """The process that made it is gone. What only reads is read again, where both say so: its
    server, and the manager who lets it be called without asking. Not for ever: the call itself may
    be what ends processes."""
    only_reads = call.tool is not None and call.tool.claims_read_only
    if call.decision == "policy" and only_reads and call.runs < MAX_TRIES:
        call.status = CallStatus.DUE
        call.save(update_fields=["status"])
    else:
        _end(call, CallStatus.FAILED, "It is not known whether this call was carried out.")


def _end(call: ToolCall, status: CallStatus, result: str, sources: Sequence[Source] = ()) -> None:
    call.status, call.result, call.finished_at = status, result, timezone.now()
    call.sources = list(sources)
    call.is_withheld, call.is_withheld_in_part = output_withheld(call, _output_of(call))
    outcome = ["status", "result", "finished_at", "sources"]
    call.save(update_fields=[*outcome, "is_withheld", "is_withheld_in_part"])


def _output_of(call: ToolCall) -> str:
    """What the model reads of a call that has ended. How a connection failed is for people; our
    own words are short, because the injection classifier takes many a sentence for an order."""
    if call.status == CallStatus.DENIED:
        return "This call was declined."
    if call.status == CallStatus.FAILED:
        of_server = (one for one in (SERVER_ERROR, SEARCH_ERROR) if call.result.startswith(one))
        return f"Error: {next(of_server, call.result)}"
    return call.result or "(no result)"


def _closed(row: ToolRound) -> Step:
    row.calls.filter(status=CallStatus.WAITING).update(status=CallStatus.DENIED)
    row.calls.filter(status__in=[CallStatus.DUE, CallStatus.RUNNING]).update(
        status=CallStatus.FAILED, result="Not called: the chat has gone on."
    )
    _close(row)
    return Step([])


def _close(row: ToolRound) -> None:
    row.state, row.claimed_until = RoundState.DONE, None
    row.save(update_fields=["state", "claimed_until"])


def _changed(message: Message) -> None:
    notify(
        "conversation.changed",
        user_id=message.conversation.user_id,
        conversation_id=message.conversation_id,
    )
