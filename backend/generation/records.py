"""The only writer of a generation's row: create, mark running, claim, finish.

Finishing stores its state, its message's text and its usage record, all three or none. It happens
once: a second caller finds the row ended and gets it back as it is. It happens under the current
epoch only: a process that was thought dead, and whose generation another one continues, cannot
end it with less text than was delivered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils import timezone

from backend.conversations.turns import message_finish
from backend.generation.models import Generation, GenerationState, StoredAnswer
from backend.generation.request import AdmittedGeneration, Usage, public_id
from backend.generation.tools import call_id, readable, split_calls, storable
from billing.quantities import TokenCounts
from billing.services import UsageFacts, usage_record_create
from billing.tiers import priced_model
from safety.audit.services import RetainedText, decision_record, prompt_retain
from safety.types import SafetyDecision

# The column is Generation.user, which outlives the user as null; the ledger wants an id.
NIL_UUID = UUID(int=0)


class Superseded(Exception):
    """This generation has failed over to another process; only that one may end it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found, and the text that it was found in; an image has none."""

    decision: SafetyDecision
    text: RetainedText | None


@dataclass(frozen=True, slots=True)
class FinalState:
    """How a generation ended.

    Attributes:
        text: what was delivered of the first choice; becomes the message's text, or is stored.
        pool: "" when no engine saw the prompt.
        checked: by the post-classifier, for the record.
        prompt: its newest message, kept beside an answer that something was found in.
    """

    state: GenerationState
    finish_reason: str
    text: str
    usage: Usage
    pool: str = ""
    replica: str = ""
    error_code: str = ""
    ttft_ms: int | None = None
    started_at: datetime | None = None
    checked: list[Checked] = field(default_factory=list)
    prompt: RetainedText | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """What stands in the database now.

    Attributes:
        facts: what was billed.
        by_us: whether this call ended it.
    """

    generation: Generation
    facts: UsageFacts
    by_us: bool


def generation_create(admitted: AdmittedGeneration, *, model: str) -> None:
    """The row, queued, and a place for its text where that is stored.

    Raises:
        IntegrityError: there is one with this id.
    """
    request, principal = admitted.request, admitted.request.principal
    Generation.objects.create(
        id=admitted.id,
        organization_id=principal.organization_id,
        project_id=principal.project_id,
        user_id=principal.user_id,
        api_key_id=principal.key_id,
        conversation_id=request.conversation_id,
        message_id=request.message_id,
        request_id=request.request_id,
        client_hash=request.client_hash,
        endpoint=request.endpoint,
        model=model,
        service_tier=request.service_tier,
        state=GenerationState.QUEUED,
        created_at=admitted.created_at,
        deadline_at=admitted.deadline_at,
    )
    if request.stores_answer:
        StoredAnswer.objects.create(generation_id=admitted.id)


@transaction.atomic
def generation_finish(*, generation_id: UUID, epoch: int, final: FinalState) -> Finished:
    """End a generation, unless it has ended.

    Raises:
        Superseded: its epoch is another one.
        Generation.DoesNotExist: its organization was deleted meanwhile.
    """
    row = Generation.objects.select_for_update(no_key=True).get(pk=generation_id)
    if not row.is_open:
        return Finished(row, usage_facts(row), by_us=False)
    if row.epoch != epoch:
        raise Superseded(f"generation {generation_id} is at epoch {row.epoch}, not {epoch}")
    now = timezone.now()
    row.state = final.state
    row.finish_reason = final.finish_reason
    row.error_code = final.error_code
    row.pool = final.pool
    row.replica = final.replica
    for column, count in msgspec.structs.asdict(final.usage).items():
        setattr(row, column, count)
    row.ttft_ms = final.ttft_ms
    row.duration_ms = max(0, round((now - row.created_at).total_seconds() * 1000))
    row.started_at = row.started_at or final.started_at
    row.finished_at = now
    row.save()
    facts = usage_facts(row)
    usage_record_create(facts=facts)
    if row.message_id is not None:
        message_finish(
            message_id=row.message_id,
            text=readable(final.text),
            status=row.state,
            finish_reason=row.finish_reason,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            parts=_parts(row, final.text),
        )
    StoredAnswer.objects.filter(pk=row.pk).update(text=storable(final.text))
    for answer in final.checked:
        decision_record(
            decision=answer.decision,
            organization_id=row.organization_id,
            generation_id=row.id,
            user_id=row.user_id,
            key_id=row.api_key_id,
            text=answer.text,
        )
    if final.prompt is not None:
        prompt_retain(generation_id=row.id, text=final.prompt)
    return Finished(row, facts, by_us=True)


def _parts(row: Generation, text: str) -> list[dict[str, Any]] | None:
    """The parts of a message that calls functions; None where text is all."""
    content, calls = split_calls(storable(text))
    if not calls:
        return None
    parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if content else []
    name = public_id(row.id, row.endpoint)
    for number, call in enumerate(calls):
        called = {"name": call.name, "arguments": call.arguments}
        parts.append({"type": "call", "call_id": call_id(name, 0, number), **called})
    return parts


@transaction.atomic
def generation_claim(*, generation_id: UUID) -> Generation | None:
    """Count the epoch up, so that only the caller can end the generation from now on.

    Returns:
        The row: open and with the caller's epoch, or ended. None where there is none.
    """
    row = Generation.objects.select_for_update(no_key=True).filter(pk=generation_id).first()
    if row is not None and row.is_open:
        row.epoch += 1
        row.save(update_fields=["epoch"])
    return row


def generation_epoch_is(*, generation_id: UUID, epoch: int) -> bool:
    """Whether the generation is open and still at `epoch`."""
    return Generation.objects.filter(
        pk=generation_id, epoch=epoch, state__in=[GenerationState.QUEUED, GenerationState.RUNNING]
    ).exists()


def generations_mark_running(ids: Sequence[UUID], *, replica: str, pool: str) -> None:
    """For the admin's eyes: nothing depends on it. Those that have ended stay so."""
    Generation.objects.filter(pk__in=ids, state=GenerationState.QUEUED).update(
        state=GenerationState.RUNNING, started_at=timezone.now(), replica=replica, pool=pool
    )


def usage_facts(row: Generation) -> UsageFacts:
    """What is billed of an ended generation."""
    assert row.finished_at is not None
    return UsageFacts(
        generation_id=row.id,
        occurred_at=row.finished_at,
        organization_id=row.organization_id,
        project_id=row.project_id,
        user_id=row.user_id or NIL_UUID,
        key_id=row.api_key_id,
        model=priced_model(row.model, row.service_tier),
        pool=row.pool,
        reported=TokenCounts.of(row),
        state=row.state,
        ttft_ms=row.ttft_ms,
        duration_ms=row.duration_ms or 0,
        client_hash=row.client_hash,
    )
