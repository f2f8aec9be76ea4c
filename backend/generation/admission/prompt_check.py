"""The first transaction of a generation: its prompt is checked, and its row written.

One hop to a thread covers the pre-check (pure CPU, milliseconds) and the transaction. A blocked
prompt ends here, in its terminal state and with its usage record, and reaches no engine.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec
from django.db import IntegrityError, transaction

from backend.accounts.data_policy import ReuseRules, data_rules_of
from backend.conversations.turns import generation_attach
from backend.conversations.types import NOTHING_WITHHELD, Withheld
from backend.generation.admission.images import images_check
from backend.generation.models import Generation, GenerationState
from backend.generation.records import (
    Checked,
    FinalState,
    generation_create,
    generation_finish,
)
from backend.generation.request import AdmittedGeneration, GenerationRequest
from backend.generation.untrusted_content import with_marked_content, withheld_from
from backend.generation.usage import Usage
from backend.platform.errors import Conflict, ContentBlocked
from safety.audit.selectors import policy_for
from safety.audit.services import RetainedText, decision_record
from safety.checks import PreClassifier
from safety.judge.policy import Policy
from safety.judge.support import offers_support
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
        row: as it was created.
        rules: which answers its organization reuses.
        checked_at, check_s: when the check began, and how long it took.
    """

    request: GenerationRequest
    policy: Policy
    row: Generation
    rules: ReuseRules
    checked_at: float
    check_s: float


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
    request, principal = with_retention(admitted.request), admitted.request.principal
    admitted = msgspec.structs.replace(admitted, request=request)
    policy = policy_for(
        organization_id=principal.organization_id, model=model, key_id=principal.key_id
    )
    began = time.monotonic()
    checks = _check(request, policy)
    check_s = time.monotonic() - began
    refusal = _refusal(checks)
    marked = with_marked_content(request, policy) if refusal is None else request
    if _offers_support(request, checks):
        assert marked.turn is not None
        marked = replace(marked, turn=msgspec.structs.replace(marked.turn, support=True))
    try:
        row = _store(admitted, model, checks, fence, withheld=withheld_from(marked))
    except IntegrityError as error:
        if "generation_generation_pkey" in str(error):
            raise Conflict(f"The generation {admitted.id} has begun already.") from error
        raise
    if refusal is not None:
        raise _blocked(refusal)
    rules = data_rules_of(principal.organization_id, principal.project_id).reuse
    return CheckedPrompt(marked, policy, row, rules, began, check_s)


def spoken_text_check(
    admitted: AdmittedGeneration, *, model: str
) -> tuple[AdmittedGeneration, list[Checked]]:
    """Check a text that is to be spoken. `spoken_text_create` writes its row, at the end.

    Raises:
        ContentBlocked: the policy refuses it. The generation is stored as `blocked`.
    """
    request, principal = with_retention(admitted.request), admitted.request.principal
    admitted = msgspec.structs.replace(admitted, request=request)
    policy = policy_for(
        organization_id=principal.organization_id, model=model, key_id=principal.key_id
    )
    checks = _check(request, policy)
    refusal = _refusal(checks)
    if refusal is not None:
        _store(admitted, model, checks, None)
        raise _blocked(refusal)
    return admitted, checks


def spoken_text_create(
    admitted: AdmittedGeneration, *, model: str, checks: list[Checked]
) -> Generation:
    """The row of what was spoken or heard, with what was decided about its text."""
    return _store(admitted, model, checks, None)


def with_retention(request: GenerationRequest) -> GenerationRequest:
    """As the organization and the project want it; a chat is its own store."""
    principal = request.principal
    rules = data_rules_of(principal.organization_id, principal.project_id)
    bounds = [
        request.retention_days,
        rules.retention_days if request.message_id is not None else rules.call_days(),
    ]
    days = min((bound for bound in bounds if bound is not None), default=None)
    return replace(request, retention_days=days, stores_answer=request.stores_answer and days != 0)


def _check(request: GenerationRequest, policy: Policy) -> list[Checked]:
    """What is found in the text of the request, and in each image."""
    messages = request.safety_messages
    text = Checked(
        _PRE_CHECK.check(messages, policy),
        RetainedText(newest_of(messages), request.retained(policy.store_text_days)),
    )
    return [text, *(Checked(decision, None) for decision in images_check(request, policy))]


def _store(
    admitted: AdmittedGeneration,
    model: str,
    checks: list[Checked],
    fence: Fence | None,
    *,
    withheld: Withheld = NOTHING_WITHHELD,
) -> Generation:
    """The row and what was decided; most generations have nothing else that needs a transaction.

    Args:
        withheld: what its model is not given.
    """
    request = admitted.request
    decisions = [check.decision for check in checks if not check.retains_text]
    if fence is None and request.message_id is None and len(decisions) == len(checks):
        return generation_create(admitted, model=model, decisions=decisions)
    with transaction.atomic():
        if fence is not None:
            fence()
        row = generation_create(admitted, model=model, decisions=decisions)
        for check in checks:
            if check.retains_text:
                decision_record(
                    decision=check.decision,
                    organization_id=row.organization_id,
                    generation_id=row.id,
                    user_id=row.user_id,
                    key_id=row.api_key_id,
                    text=check.text,
                )
        if request.message_id is not None:
            generation_attach(
                message_id=request.message_id,
                generation_id=row.id,
                model=model,
                withheld=withheld,
                shows_support=_offers_support(request, checks),
            )
        refusal = _refusal(checks)
        if refusal is not None:
            _finish_blocked(row, _blocked(refusal))
    return row


def _refusal(checks: list[Checked]) -> SafetyDecision | None:
    return next((check.decision for check in checks if check.decision.blocked), None)


def _offers_support(request: GenerationRequest, checks: list[Checked]) -> bool:
    """Whether the page shows where to find help beside the answer. Results of tools are no words of
    the person: the answer before them has shown it."""
    if request.turn is None or any(message.role == "tool" for message in request.messages[-1:]):
        return False
    return any(offers_support(check.decision) for check in checks)


def _finish_blocked(row: Generation, error: ContentBlocked) -> None:
    generation_finish(
        generation_id=row.id,
        row=row,
        epoch=1,
        final=FinalState(
            state=GenerationState.BLOCKED,
            finish_reason="content_filter",
            text="",
            usage=Usage(),
            error_code=error.code or "",
        ),
    )


def _blocked(decision: SafetyDecision) -> ContentBlocked:
    return ContentBlocked("This prompt was refused", categories=decision.categories)
