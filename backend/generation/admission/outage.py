"""What is left of an answer while no model of the chain can serve: the stored one to exactly this
request, where its organization has answers stored and reused.

Only a request that was refused for want of any replica comes here, so nothing is added to the
others. Which revision of the model is in force nobody can tell then: the answer that was stored
last is taken. In all else the rules are those of reuse (reuse/keys.py): what would not be given a
stored answer otherwise is not given one here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from django.db import DatabaseError
from psycopg_pool import PoolTimeout

from backend.accounts.data_policy import ReuseRules, data_rules
from backend.accounts.models import AnswerCache
from backend.generation import metrics
from backend.generation.admission.model_choice import ModelChoice
from backend.generation.admission.prompt_check import with_retention
from backend.generation.pools.config import PoolConfig
from backend.generation.request import GenerationRequest
from backend.generation.reuse.answers import answer_get
from backend.generation.reuse.keys import digest_of, may_be_reused
from backend.generation.reuse.plan import ReusePlan, Source
from backend.generation.untrusted_content import with_marked_content
from backend.platform.database import in_database
from safety.audit.selectors import policy_for

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """Whose answer it is, and how it is given."""

    choice: ModelChoice
    plan: ReusePlan


async def stored_answer(
    request: GenerationRequest, choices: Sequence[ModelChoice]
) -> StoredAnswer | None:
    """The stored answer of the first of `choices` that has one; None: the refusal stands."""
    if request.reuse != "allowed":
        return None
    try:
        rules = (await data_rules(request.principal)).reuse
        if rules.cache is AnswerCache.OFF:
            return None
        able = [
            choice
            for choice in choices
            if may_be_reused(request, choice.pool, rules) and _is_read_here(request, choice.pool)
        ]
        found = await in_database(_find, request, able, rules) if able else None
    except (DatabaseError, PoolTimeout) as error:
        log.warning("outage_without_database", error=str(error))
        return None
    if found is not None:
        metrics.REUSE.labels(found.choice.pool.id, Source.OUTAGE).inc()
    return found


def _is_read_here(request: GenerationRequest, pool: PoolConfig) -> bool:
    """Whether the request can be checked as it came: only an engine reads token ids, and images are
    read for a model that cannot see after its limits have been charged."""
    if any(isinstance(prompt, list) for prompt in request.prompts):
        return False
    return "vision" in pool.capabilities or not any(one.images for one in request.messages)


def _find(
    request: GenerationRequest, choices: Sequence[ModelChoice], rules: ReuseRules
) -> StoredAnswer | None:
    principal = request.principal
    organization_id = principal.organization_id
    for choice in choices:
        pool = choice.pool
        policy = policy_for(organization_id=organization_id, model=pool.id, key_id=principal.key_id)
        asked = with_marked_content(with_retention(request), policy)
        digest = digest_of(asked, pool, policy)
        if digest is None:
            continue
        answer = answer_get(organization_id=organization_id, digest=digest, revision=None)
        if answer is not None:
            plan = ReusePlan(organization_id, digest, "", rules, shares=False, answer=answer)
            plan.source = Source.OUTAGE
            return StoredAnswer(choice, plan)
    return None
