"""The first transaction of a generation: its prompt is checked, and its row written.

One hop to a thread covers the pre-check (pure CPU, milliseconds) and the transaction. A blocked
prompt ends here, in its terminal state and with its usage record, and reaches no engine.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction

from backend.accounts.data_policy import data_rules_of
from backend.conversations.turns import generation_attach
from backend.generation.admission.images import images_check
from backend.generation.models import GenerationState
from backend.generation.records import (
    Checked,
    FinalState,
    generation_create,
    generation_finish,
)
from backend.generation.request import AdmittedGeneration, GenerationRequest, Usage
from backend.generation.untrusted_content import with_marked_content
from backend.platform.errors import Conflict, ContentBlocked
from safety.audit.selectors import policy_for
from safety.audit.services import RetainedText, decision_record
from safety.checks import PreClassifier
from safety.judge.policy import Policy
from safety.judge.timeout import TimedCheck
from safety.types import SafetyDecision, newest_of

_PRE_CHECK = TimedCheck(PreClassifier())

Fence = Callable[[], None]
"""Raises unless the caller may still start the generation. It is called in the transaction that
stores the row, so what it locks stays as it found it until the row is there."""


@dataclass(frozen=True, slots=True)
class CheckedPrompt:
    """A prompt that may reach an engine.

    Attributes:
        request: with its untrusted content marked as data.
        policy: what its output is held to.
    """

    request: GenerationRequest
    policy: Policy


def generation_check_and_create(
    admitted: AdmittedGeneration, *, model: str, fence: Fence | None = None
) -> CheckedPrompt:
    """Check the prompt, and create the generation in the transaction that stores what was found.

    Args:
        model: the id of the pool that is to serve it.
    Raises:
        ContentBlocked: the policy refuses the prompt. The generation is stored as `blocked`.
        Conflict: a generation with this id has begun.
        ParleyError: what `fence` raises; nothing is stored.
    """
    admitted = _with_retention(admitted)
    request, principal = admitted.request, admitted.request.principal
    policy = policy_for(
        organization_id=principal.organization_id, model=model, key_id=principal.key_id
    )
    checks = _check(request, policy)
    refusal = next((check.decision for check in checks if check.decision.blocked), None)
    try:
        _store(admitted, model, checks, fence)
    except IntegrityError as error:
        if "generation_generation_pkey" in str(error):
            raise Conflict(f"The generation {admitted.id} has begun already.") from error
        raise
    if refusal is not None:
        raise _blocked(refusal)
    return CheckedPrompt(with_marked_content(request), policy)


def _with_retention(admitted: AdmittedGeneration) -> AdmittedGeneration:
    """As the organization and the project want it; a chat is its own store."""
    request, principal = admitted.request, admitted.request.principal
    rules = data_rules_of(principal.organization_id, principal.project_id)
    bounds = [
        request.retention_days,
        rules.retention_days if request.message_id is not None else rules.call_days(),
    ]
    days = min((bound for bound in bounds if bound is not None), default=None)
    request = replace(
        request, retention_days=days, stores_answer=request.stores_answer and days != 0
    )
    return msgspec.structs.replace(admitted, request=request)


def _check(request: GenerationRequest, policy: Policy) -> list[Checked]:
    """What is found in the text of the request, and in each image."""
    messages = request.safety_messages
    text = Checked(
        _PRE_CHECK.check(messages, policy),
        RetainedText(newest_of(messages), request.retained(policy.store_text_days)),
    )
    return [text, *(Checked(decision, None) for decision in images_check(request, policy))]


@transaction.atomic
def _store(
    admitted: AdmittedGeneration, model: str, checks: list[Checked], fence: Fence | None
) -> None:
    request, principal = admitted.request, admitted.request.principal
    if fence is not None:
        fence()
    generation_create(admitted, model=model)
    for check in checks:
        decision_record(
            decision=check.decision,
            organization_id=principal.organization_id,
            generation_id=admitted.id,
            user_id=principal.user_id,
            key_id=principal.key_id,
            text=check.text,
        )
    if request.message_id is not None:
        generation_attach(message_id=request.message_id, generation_id=admitted.id)
    if any(check.decision.blocked for check in checks):
        _finish_blocked(admitted.id)


def _finish_blocked(generation_id: UUID) -> None:
    generation_finish(
        generation_id=generation_id,
        epoch=1,
        final=FinalState(
            state=GenerationState.BLOCKED,
            finish_reason="content_filter",
            text="",
            usage=Usage(),
            error_code=ContentBlocked.code or "",
        ),
    )


def _blocked(decision: SafetyDecision) -> ContentBlocked:
    return ContentBlocked(
        "This prompt was refused by the usage policy"
        + (f" ({', '.join(decision.categories)})." if decision.categories else "."),
        details={"categories": decision.categories},
    )
