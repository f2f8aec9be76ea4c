"""The only writer of a generation's row: create, mark running, claim, finish.

Finishing stores its state, its message's text and its usage record, all three or none. It happens
once: a caller that repeats it gets the row back as it is. It happens under the current epoch only:
a process that was thought dead, and whose generation another one has claimed, ends nothing and is
told so, whether the other one continues the generation or has ended it.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from backend.conversations.turns import message_finish
from backend.generation.models import (
    FROM_OUTAGE,
    LOST,
    OPEN_STATES,
    Generation,
    GenerationState,
    StoredAnswer,
)
from backend.generation.request import AdmittedGeneration, public_id
from backend.generation.thoughts import split_thought
from backend.generation.tools import call_id, readable, split_calls, storable
from backend.generation.usage import Usage
from backend.platform.errors import SUPPORT_CODE
from backend.platform.together import row_update_and_insert, rows_insert
from billing.quantities import TokenCounts
from billing.services import UsageFacts, usage_rows
from billing.tiers import priced_model
from safety.audit.models import SafetyDecisionRecord
from safety.audit.services import RetainedText, decision_record, decision_row, prompt_retain
from safety.judge.support import offers_support
from safety.types import Action, SafetyDecision

# The column is Generation.user, which outlives the user as null; the ledger wants an id.
NIL_UUID = UUID(int=0)


class Superseded(Exception):
    """This generation has failed over to another process; only that one may end it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found, and the text that it was found in; an image has none."""

    decision: SafetyDecision
    text: RetainedText | None

    @property
    def retains_text(self) -> bool:
        """Whether more than the decision may be stored of it."""
        return self.decision.action is not Action.ALLOW


@dataclass(frozen=True, slots=True)
class FinalState:
    """How a generation ended.

    Attributes:
        text: what was delivered of the first choice; becomes the message's text, or is stored.
        pool: "" when no engine saw the prompt.
        checked: by the post-classifier, for the record.
        prompt: its newest message, kept beside an answer that something was found in.
        stations: how many milliseconds it was at each (stations.py).
        answer_source: whose answer it got; "" where it was computed.
    """

    state: GenerationState
    finish_reason: str
    text: str
    usage: Usage
    pool: str = ""
    replica: str = ""
    error_code: str = ""
    ttft_ms: int | None = None
    thought_ms: int | None = None
    started_at: datetime | None = None
    checked: list[Checked] = field(default_factory=list)
    prompt: RetainedText | None = None
    stations: dict[str, float] | None = None
    answer_source: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """What stands in the database now.

    Attributes:
        facts: what was billed.
        by_us: whether this call ended it; False: an earlier one under the same epoch did.
    """

    generation: Generation
    facts: UsageFacts
    by_us: bool


def generation_create(
    admitted: AdmittedGeneration, *, model: str, decisions: Sequence[SafetyDecision] = ()
) -> Generation:
    """The row, queued, a place for its text where that is stored, and what was decided about its
    prompt; in one statement.

    Raises:
        IntegrityError: there is one with this id.
    """
    request, principal = admitted.request, admitted.request.principal
    row = Generation(
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
    rows: list[Model] = [row]
    if request.stores_answer:
        rows.append(StoredAnswer(generation_id=row.id))
    rows_insert(rows + [_decision_row(row, decision) for decision in decisions])
    return row


def generation_stored(admitted: AdmittedGeneration) -> Finished | None:
    """The ended generation of this very request, where there is one."""
    row = Generation.objects.filter(pk=admitted.id, created_at=admitted.created_at).first()
    if row is None or row.is_open:
        return None
    return Finished(row, usage_facts(row), by_us=False)


def generation_finish(
    *, generation_id: UUID, epoch: int, final: FinalState, row: Generation | None = None
) -> Finished:
    """End a generation, unless it has ended.

    Args:
        row: as it was created, where the caller has it; it saves a query.
    Raises:
        Superseded: its epoch is another one, whether it is open or ended.
        Generation.DoesNotExist: its organization was deleted meanwhile.
    """
    row = copy(row) if row is not None else Generation.objects.get(pk=generation_id)
    has_more = row.message_id is not None or _retains_text(final)
    with transaction.atomic() if has_more else nullcontext():
        facts = _end(row, epoch, final)
        if facts is None:
            return _not_ended(generation_id, epoch)
        if has_more:
            _store_texts(row, final)
    return Finished(row, facts, by_us=True)


def _end(row: Generation, epoch: int, final: FinalState) -> UsageFacts | None:
    """State, usage record, stored answer and decisions in one statement; None where the row is not
    open or at another epoch, and nothing is stored."""
    now = timezone.now()
    changes: dict[str, Any] = {
        "state": final.state,
        "finish_reason": final.finish_reason,
        "error_code": final.error_code,
        "pool": final.pool,
        "answer_source": final.answer_source,
        "replica": final.replica,
        **msgspec.structs.asdict(final.usage),
        "ttft_ms": final.ttft_ms,
        "stations": final.stations,
        "duration_ms": max(0, round((now - row.created_at).total_seconds() * 1000)),
        "finished_at": now,
    }
    for column, value in changes.items():
        setattr(row, column, value)
    row.started_at = row.started_at or final.started_at
    facts = usage_facts(row)
    ended = row_update_and_insert(
        Generation,
        row.id,
        only_if={"epoch": [epoch], "state": OPEN_STATES},
        changes=changes,
        keep={"started_at": row.started_at},
        update=(StoredAnswer, {"text": storable(final.text)}),
        insert=[
            *usage_rows(facts=facts),
            *(
                _decision_row(row, answer.decision)
                for answer in final.checked
                if not answer.retains_text
            ),
        ],
    )
    return facts if ended else None


def _retains_text(final: FinalState) -> bool:
    return final.prompt is not None or any(answer.retains_text for answer in final.checked)


def _store_texts(row: Generation, final: FinalState) -> None:
    """The message's text, and texts that something was found in."""
    if row.message_id is not None:
        message_finish(
            message_id=row.message_id,
            text=readable(split_thought(final.text)[1]),
            status=row.state,
            finish_reason=row.finish_reason,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            parts=_parts(row, final),
            from_outage=final.answer_source == FROM_OUTAGE,
            shows_support=any(offers_support(answer.decision) for answer in final.checked),
        )
    for answer in final.checked:
        if answer.retains_text:
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


def _not_ended(generation_id: UUID, epoch: int) -> Finished:
    """Return the row that an earlier call ended. Raises Superseded, DoesNotExist."""
    row = Generation.objects.get(pk=generation_id)
    if row.is_open or row.epoch != epoch:
        raise Superseded(f"generation {generation_id} is at epoch {row.epoch}, not {epoch}")
    return Finished(row, usage_facts(row), by_us=False)


def _decision_row(row: Generation, decision: SafetyDecision) -> SafetyDecisionRecord:
    return decision_row(
        decision=decision,
        organization_id=row.organization_id,
        generation_id=row.id,
        user_id=row.user_id,
        key_id=row.api_key_id,
    )


def _parts(row: Generation, final: FinalState) -> list[dict[str, Any]] | None:
    """The parts of a message that thinks or calls functions; None where text is all."""
    text = storable(final.text)
    content, calls = split_calls(text)
    thought, _ = split_thought(text)
    if not calls and not thought:
        return None
    parts: list[dict[str, Any]] = []
    if thought:
        seconds = round((final.thought_ms or 0) / 1000, 1)
        parts.append({"type": "reasoning", "text": thought, "seconds": seconds})
    if content:
        parts.append({"type": "text", "text": content})
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


Standing = Literal["ours", "elsewhere", "lost"]


def generation_standing(*, generation_id: UUID, epoch: int) -> Standing:
    """Tell the process that holds `epoch` whether the generation is its own, open or ended.

    Ask after taking the lease, never before: who claims a generation counts the epoch up first and
    looks for a lease then, so one of the two sees the other.

    Returns:
        `elsewhere`: another process continues it, or has; `lost`: the reaper has ended it, or it
        is gone.
    """
    row = Generation.objects.filter(pk=generation_id).only("epoch", "state", "error_code").first()
    if row is None or row.error_code == LOST:
        return "lost"
    return "ours" if row.epoch == epoch else "elsewhere"


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
        # Who is offered help is in distress, and no abuser.
        counts_as_abuse=row.error_code != SUPPORT_CODE,
    )
