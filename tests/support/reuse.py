"""Requests whose answers may be reused, and what became of them."""

from dataclasses import replace
from typing import Any

from backend.accounts.data_policy import ReuseRules, answer_reuse_set, data_rules_clear
from backend.accounts.models import AnswerCache
from backend.accounts.principal import Principal
from backend.generation.models import Generation
from backend.generation.request import GenerationRequest, SamplingParams
from backend.platform.database import in_database
from tests.support.gateway import chat, stored, usage_records


def greedy(
    principal: Principal, text: str = "Name the words.", **changes: Any
) -> GenerationRequest:
    """A request to which there is one answer."""
    params = SamplingParams(max_tokens=changes.pop("max_tokens", 40), temperature=0)
    return chat(principal, text, params=params, **changes)


def other_of(principal: Principal, **changes: Any) -> Principal:
    """Another session of the same caller, whose generations are its own."""
    return replace(principal, **changes)


async def reuse(
    principal: Principal,
    *,
    cache: AnswerCache = AnswerCache.EXACT,
    running: bool = True,
    sampled: bool = False,
    lifetime_s: int = 3600,
) -> None:
    """Have the caller's organization reuse answers so."""
    data_rules_clear()
    rules = ReuseRules(running, cache, lifetime_s, sampled)
    await in_database(answer_reuse_set, principal=principal, rules=rules)


async def check_reused(generation: Any, *, tokens: int, source: str) -> Generation:
    """Its row and its one usage record say that it ended, with `tokens` that were not computed."""
    row = await stored(generation)
    [record] = await usage_records(generation)
    assert (row.state, row.answer_source) == ("completed", source)
    for one in (row, record):
        assert (one.output_tokens, one.cached_output_tokens) == (tokens, tokens)
        assert one.input_tokens == one.cached_input_tokens > 0
        assert one.reasoning_tokens == 0
    return row


async def check_computed(generation: Any, *, tokens: int) -> Generation:
    """The same of one that was computed."""
    row = await stored(generation)
    [record] = await usage_records(generation)
    assert (row.state, row.answer_source) == ("completed", "")
    for one in (row, record):
        assert (one.output_tokens, one.cached_output_tokens) == (tokens, 0)
    return row
