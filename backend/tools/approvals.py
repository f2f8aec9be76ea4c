"""A person's decision about a call of their own chat."""

from typing import Literal
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.conversations.notify import notify
from backend.conversations.selectors import conversation_get
from backend.platform.errors import Conflict, InvalidRequest, NotFound
from backend.tools.models import CallStatus, ToolCall, ToolGrant, ToolRound
from backend.tools.waking import round_wake

Decision = Literal["once", "chat", "always", "deny"]
MAX_LISTED = 500


def calls_of(principal: Principal) -> QuerySet[ToolCall]:
    """Every query for calls by their person starts here."""
    return ToolCall.objects.filter(
        round__message__conversation__organization_id=principal.organization_id,
        round__message__conversation__user_id=principal.user_id,
        round__message__conversation__deleted_at=None,
    )


def calls_list(*, principal: Principal, conversation_id: UUID) -> list[ToolCall]:
    """The newest 500 of a chat. Raises NotFound."""
    conversation_get(principal=principal, conversation_id=conversation_id)
    rows = calls_of(principal).filter(round__message__conversation_id=conversation_id)
    rows = rows.select_related("tool__server", "round__message__conversation")
    return list(rows.order_by("-round__message__created_at", "place")[:MAX_LISTED])


def may_always(call: ToolCall) -> bool:
    """Whether "always" may be chosen: not of what says of itself that it destroys."""
    return call.tool is not None and not call.tool.claims_destructive


@transaction.atomic
def call_decide(*, principal: Principal, tool_call_id: UUID, decision: Decision) -> ToolCall:
    """Let a waiting call be made, or not; the answer goes on by itself.

    Raises:
        NotFound. Conflict: it does not wait, or the chat has gone on. InvalidRequest: "always" of
        a destructive tool.
    """
    found = calls_of(principal).filter(pk=tool_call_id).first()
    if found is None:
        raise NotFound(f"There is no tool call {tool_call_id}.")
    row = ToolRound.objects.select_for_update(of=("self",)).get(pk=found.round_id)
    call = (
        calls_of(principal)
        .select_related("tool__server", "round__message__conversation")
        .get(pk=found.pk)
    )
    conversation = call.round.message.conversation
    if call.status != CallStatus.WAITING or conversation.active_message_id != row.pk:
        raise Conflict("This call does not wait for a decision any more.", code="tool_call_decided")
    if decision == "always" and not may_always(call):
        raise InvalidRequest("This tool is asked for each time.", param="decision")
    call.status = CallStatus.DENIED if decision == "deny" else CallStatus.DUE
    call.decision, call.decided_by_id, call.decided_at = (
        decision,
        principal.user_id,
        timezone.now(),
    )
    call.save(update_fields=["status", "decision", "decided_by", "decided_at"])
    if decision in {"chat", "always"} and call.tool is not None:
        ToolGrant.objects.update_or_create(
            tool=call.tool,
            user_id=principal.user_id,
            conversation=conversation if decision == "chat" else None,
            defaults={"fingerprint": call.fingerprint},
        )
    round_wake(row)
    record(
        Action.TOOL_DENIED if decision == "deny" else Action.TOOL_APPROVED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("tool_call", call.pk),
        project_id=conversation.project_id,
        details={"server": call.server_name, "tool": call.tool_name, "decision": decision},
    )
    notify(
        "conversation.changed",
        user_id=conversation.user_id,
        conversation_id=conversation.pk,
    )
    return call
