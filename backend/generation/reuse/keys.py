"""Which requests may be answered by another one's answer, and by what two of them are the same.

The digest covers everything that a request is: what an engine is sent, of which model, the policy
that its answer is held to, and for how long its project and its caller have it kept. The
organization is part of it, and it is keyed: who reads Redis or a table cannot find out what was
asked by hashing guesses. The model's revision, on which an answer depends as well, stands beside
it: while no replica is there to tell it, an answer of the last one can still be found.
"""

from hashlib import blake2b
from typing import Any
from uuid import UUID

import orjson

from backend.accounts.data_policy import ReuseRules
from backend.accounts.models import AnswerCache
from backend.generation.pools.config import PoolConfig
from backend.generation.pools.continuation import can_continue, upstream_body
from backend.generation.request import GenerationRequest
from backend.platform.encryption import keyed_hash
from backend.platform.keys import Purpose
from safety.judge.policy import Policy

# How an answer is sent and in which order requests are served: not what is answered.
_NOT_THE_ANSWERS = (
    "stream",
    "stream_options",
    "priority",
    "cache_salt",
    "cache_public_messages",
)


def may_be_reused(request: GenerationRequest, pool: PoolConfig, rules: ReuseRules) -> bool:
    """Whether the request may be answered by another one's answer at all.

    Tools, candidates, logprobs, echoes and predictions are always computed; so is what is sampled,
    unless the organization allows it: who asks twice there wants two answers.
    """
    if request.reuse == "never" or not (rules.shares_running or rules.cache is not AnswerCache.OFF):
        return False
    params = request.params
    if request.n != 1 or request.tools is not None or params.logprobs is not None:
        return False
    if request.echo or request.prediction or any(_uses_tools(m) for m in request.messages):
        return False
    return rules.sampled or _is_deterministic(request, pool)


def may_be_shared(request: GenerationRequest, pool: PoolConfig, rules: ReuseRules) -> bool:
    """Whether it may follow one that runs: should that one end early, it must be able to go on."""
    return rules.shares_running and request.reuse == "allowed" and can_continue(request, pool)


def digest_of(request: GenerationRequest, pool: PoolConfig, policy: Policy) -> str | None:
    """64 hex digits, equal for identical requests of one organization; None for what cannot be
    written down (half of a surrogate pair).

    Args:
        request: as it was checked, with its untrusted content marked.
    """
    body = upstream_body(request, pool, choice=0, text_so_far="", tokens_so_far=0)
    asked = {name: value for name, value in body.items() if name not in _NOT_THE_ANSWERS}
    parts = {
        "organization": str(request.principal.organization_id),
        "model": pool.id,
        "endpoint": request.endpoint,
        "tier": request.service_tier,
        "kept": request.retention_days,
        "limit": pool.answer_limit(request),
        "policy": policy.as_dict(),
        "body": asked,
    }
    try:
        written = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return None
    whole = blake2b(written, digest_size=32).hexdigest()
    return keyed_hash(whole, purpose=Purpose.ANSWER_CACHE)


def flight_name(organization_id: UUID, digest: str, revision: str) -> str:
    """The key in Redis of the generation that runs."""
    return f"answer:running:{organization_id}:{digest}:{revision}"


def _is_deterministic(request: GenerationRequest, pool: PoolConfig) -> bool:
    params = request.params
    temperature = params.temperature
    if temperature is None:
        temperature = pool.sampling.get("temperature")
    return params.seed is not None or temperature == 0


def _uses_tools(message: Any) -> bool:
    return bool(message.tool_calls) or message.role == "tool"
