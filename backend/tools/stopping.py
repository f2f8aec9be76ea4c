"""A person stops a turn while its tools are called: it ends now, whatever the tools still do.

The rows say so first, in one transaction under the round's lock, so that nothing goes on with a
result that comes later; the process that makes the calls sees it and gives them up
(`rounds_stopped`), which tells their servers. What the model wrote stays as it is, and is billed:
its generation has ended before the first call was made.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.conversations.models import Conversation, Message
from backend.conversations.notify import notify
from backend.conversations.selectors import conversation_get
from backend.tools.models import OPEN_CALLS, CallStatus, RoundState, ToolRound
from backend.tools.rounds import calls_create, round_locked


def round_stop(*, principal: Principal, conversation_id: UUID) -> bool:
    """Whether calls of the chat's last answer were stopped. Twice is fine. Raises NotFound."""
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    return _stop(principal, conversation)


def round_stop_of_generation(*, principal: Principal, generation_id: UUID) -> bool:
    """As `round_stop`, for who knows the generation that asked for the calls; False where it is
    not the caller's, or has none."""
    message = (
        Message.objects.select_related("conversation")
        .filter(
            generation_id=generation_id,
            conversation__organization_id=principal.organization_id,
            conversation__user_id=principal.user_id,
            conversation__deleted_at=None,
            tool_round__isnull=False,
        )
        .first()
    )
    if message is None or message.conversation.active_message_id != message.pk:
        return False
    return _stop(principal, message.conversation)


def rounds_stopped(ids: Sequence[UUID]) -> list[UUID]:
    """Which of these rounds have been stopped since they were claimed."""
    rows = ToolRound.objects.filter(pk__in=ids, state=RoundState.CANCELLED)
    return list(rows.values_list("pk", flat=True))


@transaction.atomic
def _stop(principal: Principal, conversation: Conversation) -> bool:
    if conversation.active_message_id is None:
        return False
    row = round_locked(conversation.active_message_id)
    if row is None or row.state in {RoundState.DONE, RoundState.CANCELLED}:
        return False
    if row.state == RoundState.ANSWERING and not calls_create(row):
        return False
    stopped = row.calls.filter(status__in=OPEN_CALLS)
    names = [f"{call.server_name}/{call.tool_name}" for call in stopped]
    stopped.update(
        status=CallStatus.CANCELLED, result="Stopped by its person.", finished_at=timezone.now()
    )
    row.state, row.claimed_until = RoundState.CANCELLED, None
    row.save(update_fields=["state", "claimed_until"])
    record(
        Action.TOOL_STOPPED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("tool_round", row.pk),
        project_id=conversation.project_id,
        details={"calls": names},
    )
    notify("conversation.changed", user_id=conversation.user_id, conversation_id=conversation.pk)
    return True
