"""Admits a generation under its caller's limits, and sets the count right at its end."""

from dataclasses import dataclass
from uuid import UUID

from redis.asyncio import Redis

from backend.accounts.principal import Principal
from backend.generation.admission.scopes import LimitScope, scopes_of
from backend.generation.admission.script import ADMIT, LOOK, SETTLE
from backend.platform.errors import RateLimited
from backend.platform.redis_batch import Batch

_KINDS = {1: "requests per minute", 2: "tokens per minute", 3: "generations at a time"}


@dataclass(frozen=True, slots=True)
class RateLimitCharge:
    """Attributes:
    headers: `x-ratelimit-*`, of the scope with the least left.
    is_new: it was charged now; False where a generation of this id is already running, whose
        start has to settle it.
    """

    headers: dict[str, str]
    is_new: bool


@dataclass(frozen=True, slots=True)
class LimitLeft:
    """What one holder of limits has left at this moment, a minute's.

    Attributes:
        model: None: of all models together.
    """

    holder: str
    model: str | None
    requests_limit: int
    requests_remaining: int
    requests_reset_s: float
    tokens_limit: int
    tokens_remaining: int
    tokens_reset_s: float
    concurrent_limit: int
    concurrent_running: int


class Limiter:
    """The limits in Redis.

    Args:
        longest_s: a generation that is never settled stops counting as running after this.
    """

    def __init__(self, redis: Redis, *, longest_s: int) -> None:
        batch = Batch(redis)
        self._admit, self._settle = batch.script(ADMIT), batch.script(SETTLE)
        self._look = batch.script(LOOK)
        self._longest_s = longest_s

    async def admit(
        self, principal: Principal, generation_id: UUID, *, tokens: int, model: str = ""
    ) -> RateLimitCharge:
        """Charge one request and `tokens` (an estimate) to every scope of the caller.

        Raises:
            RateLimited: one scope has no room; nothing was charged.
        """
        scopes = scopes_of(principal, model)
        names = [f"{s.name}:{part}" for s in scopes for part in ("requests", "tokens", "active")]
        arguments: list[str | int] = [str(generation_id), tokens, self._longest_s]
        for scope in scopes:
            arguments += (
                scope.requests_per_minute,
                scope.tokens_per_minute,
                scope.concurrent_generations,
            )
        answer = [int(number) for number in await self._admit(keys=names, args=arguments)]
        headers = _headers(scopes, answer[-4:])
        if answer[0] != 1:
            return RateLimitCharge(headers, is_new=answer[0] == 0)
        raise _refusal(scopes[answer[1] - 1], kind=answer[2], wait_us=answer[3], headers=headers)

    async def left(self, principal: Principal) -> list[LimitLeft]:
        """What each of the caller's scopes has left; nothing is charged. Those of their project
        come once for each model that has a limit of its own."""
        scopes: list[tuple[LimitScope, str | None]] = [(s, None) for s in scopes_of(principal)]
        scopes += [
            (scopes_of(principal, limit.model)[-1], limit.model)
            for limit in principal.project.limits
        ]
        found = []
        for scope, model in scopes:
            names = [f"{scope.name}:{part}" for part in ("requests", "tokens", "active")]
            limits = (scope.requests_per_minute, scope.tokens_per_minute)
            *state, running = await self._look(keys=names, args=list(limits))
            found.append(_left(scope, model, [int(number) for number in state], int(running)))
        return found

    async def settle(
        self,
        principal: Principal,
        generation_id: UUID,
        *,
        estimated: int,
        used: int,
        model: str = "",
    ) -> None:
        """The generation ended: it no longer counts as running, and what it used takes the
        place of what was charged beforehand. Settling twice changes nothing."""
        scopes = scopes_of(principal, model)
        await self._settle(
            keys=[f"{s.name}:{part}" for s in scopes for part in ("tokens", "active")],
            args=[str(generation_id), estimated, used, *(s.tokens_per_minute for s in scopes)],
        )


def _left(scope: LimitScope, model: str | None, state: list[int], running: int) -> LimitLeft:
    return LimitLeft(
        holder=scope.label,
        model=model,
        requests_limit=scope.requests_per_minute,
        requests_remaining=state[0],
        requests_reset_s=round(state[1] / 1e6, 3),
        tokens_limit=scope.tokens_per_minute,
        tokens_remaining=state[2],
        tokens_reset_s=round(state[3] / 1e6, 3),
        concurrent_limit=scope.concurrent_generations,
        concurrent_running=running,
    )


def _refusal(scope: LimitScope, *, kind: int, wait_us: int, headers: dict[str, str]) -> RateLimited:
    limit = {
        1: scope.requests_per_minute,
        2: scope.tokens_per_minute,
        3: scope.concurrent_generations,
    }[kind]
    wait = max(1.0, wait_us / 1e6)
    return RateLimited(
        f"The limit of this {scope.label} is reached: {limit} {_KINDS[kind]}."
        f" Try again in {wait:.0f} s.",
        retry_after=wait,
        headers=headers,
    )


def _headers(scopes: list[LimitScope], state: list[int]) -> dict[str, str]:
    remaining_requests, reset_requests, remaining_tokens, reset_tokens = state
    return {
        "x-ratelimit-limit-requests": str(min(s.requests_per_minute for s in scopes)),
        "x-ratelimit-limit-tokens": str(min(s.tokens_per_minute for s in scopes)),
        "x-ratelimit-remaining-requests": str(remaining_requests),
        "x-ratelimit-remaining-tokens": str(remaining_tokens),
        "x-ratelimit-reset-requests": _duration(reset_requests),
        "x-ratelimit-reset-tokens": _duration(reset_tokens),
    }


def _duration(microseconds: int) -> str:
    """As OpenAI writes it: `120ms`, `6.5s`."""
    if microseconds < 1_000_000:
        return f"{-(-microseconds // 1000)}ms"
    return f"{microseconds / 1e6:.3f}".rstrip("0").rstrip(".") + "s"
