"""Budgets in a request's path: two atomic scripts in Redis, no database where nothing was lost."""

import asyncio
import contextvars
import time
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from itertools import chain
from uuid import UUID

import orjson
import structlog
from django.conf import settings
from django.db import DatabaseError
from redis.exceptions import RedisError

from backend.accounts.principal import Principal
from backend.platform.cancellation import uninterrupted
from backend.platform.database import in_database, in_reports
from backend.platform.errors import InsufficientQuota
from backend.platform.redis import async_client
from backend.platform.redis_batch import async_batch
from backend.platform.shared_load import SharedLoads
from billing.abuse import throttle
from billing.budgets import counters
from billing.budgets.counters import CREDIT, RESERVATIONS, Counter
from billing.budgets.limits import (
    BudgetLimit,
    OrganizationLimits,
    cached_limits,
    organization_limits,
)
from billing.budgets.spending import rebuild_counters
from billing.budgets.volumes import settled_cost
from billing.prices import Payer, PriceBook, UnpricedUsage, ceiling
from billing.prices.loading import shared_price_book
from billing.prices.services import next_hour
from billing.quantities import Quantities
from billing.services import UsageFacts

log = structlog.get_logger(__name__)

RESERVATION_MARGIN_S = counters.FRESH_S
"""A reservation lapses this long after its generation must have ended: the process that should
have settled it died, and the ledger knows what it cost. By then each counter that is believed was
rebuilt from it."""

_rebuilds: SharedLoads[tuple[UUID, frozenset[str]], None] = SharedLoads()
_limits: SharedLoads[UUID, OrganizationLimits] = SharedLoads()
_under_way: set[asyncio.Task[None]] = set()


class Reservation(Enum):
    """What stands of a generation in the budgets that bind its caller."""

    NEW = "new"
    BEFORE = "before"
    """It was set aside under the same id by another call, whose it is."""
    NONE = "none"
    """No budget binds the caller."""


async def reserve(
    *,
    principal: Principal,
    generation_id: UUID,
    model: str,
    input_tokens: int,
    max_output_tokens: int,
    audio_seconds: int = 0,
    characters: int = 0,
    now: datetime | None = None,
) -> Reservation:
    """Set aside the most this generation can cost, in every budget that binds the caller.

    Either in all of them or in none. Reserving a generation again changes nothing.

    Args:
        audio_seconds, characters: the most of them, of what is heard or spoken.
        now: when it is asked for, which decides whose month it must fit; the present by default.
    Returns:
        What stands now. Only what is `NEW` is the caller's to give back.
    Raises:
        InsufficientQuota: a hard budget has no room for it, counting what is spent and what
            the generations in flight may still cost, those of the month before too.
        RateLimited: the caller is throttled by the abuse detector.
    """
    limits, book = await _limits_and_book(principal.organization_id)
    bound = limits.binding(project_id=principal.project_id, key_id=principal.key_id)
    if not bound:
        throttled = await async_batch().execute("MGET", *throttle.keys(principal))
        await throttle.refuse_if_over(principal, throttled)
        return Reservation.NONE
    now = now or datetime.now(UTC)
    most = Quantities(
        input=input_tokens,
        output=max_output_tokens,
        audio=audio_seconds,
        characters=characters,
    )
    payer = Payer(principal.organization_id, principal.project_id)
    lifetime = int(settings.GENERATION_TIMEOUT_S) + RESERVATION_MARGIN_S
    moments = _price_moments(now, now + timedelta(seconds=lifetime))
    amount = max(_max_cost(book, payer, model, most, at) for at in moments)
    held_in = [_keys(limits, limit, now) for limit in bound]
    keys = list(chain.from_iterable(held_in))
    arguments: list[str | float] = [
        str(generation_id),
        amount,
        now.timestamp(),
        now.timestamp() + lifetime,
        2 * lifetime,
        *(limit.ceiling for limit in bound),
    ]
    # One round trip for everything.
    throttled, _, answer = await async_batch().execute_all(
        ("MGET", *throttle.keys(principal)),
        # Settling must find the counters even if the budgets change in the meantime.
        ("SET", _reserved_key(generation_id), orjson.dumps(held_in), "EX", 2 * lifetime),
        ("EVAL", counters.RESERVE, len(keys), *keys, *arguments),
    )
    try:
        await throttle.refuse_if_over(principal, throttled)
    except Exception:  # RateLimited, or Redis went away: nothing of this call stays reserved
        if answer[0] == 1 and answer[1]:
            await settle(generation_id=generation_id, facts=None)
        raise
    while answer[0] == -1:
        await _rebuild(limits, bound, now)
        answer = await async_client().eval(counters.RESERVE, len(keys), *keys, *arguments)
    if answer[0] == 1 and answer[2] < counters.FRESH_S / 2:
        _rebuild_soon(limits, bound, now)
    if answer[0] == 0:
        await async_client().delete(_reserved_key(generation_id))
        raise _refusal(bound[answer[1] - 1], limits.currency)
    return Reservation.NEW if answer[1] else Reservation.BEFORE


async def settle(
    *, generation_id: UUID, facts: UsageFacts | None, may_hold_reservation: bool = True
) -> None:
    """Replace a generation's reservation by what it cost.

    Call it after the transaction with its usage record is committed, and soon (within
    `counters.RECENT_S`). Settling again changes nothing; never settling costs only accuracy
    until the reservation lapses and the counter is next rebuilt. Once begun it goes to its end,
    also when the caller is cancelled in between: half of it would leave a reservation behind
    that nothing releases.

    Args:
        facts: as they were recorded; None where the generation never ran.
        may_hold_reservation: False where `reserve` said `NONE`: then nothing is asked of Redis,
            unless a budget has come to bind it meanwhile.
    """
    if not may_hold_reservation and (facts is None or _is_unbound(facts)):
        return
    await uninterrupted(_settle, generation_id, facts)


async def _settle(generation_id: UUID, facts: UsageFacts | None) -> None:
    reserved = await async_batch().execute("GETDEL", _reserved_key(generation_id))
    to_release: list[list[str]] = orjson.loads(reserved) if reserved else []
    to_charge: list[list[str]] = []
    cost = 0
    if facts is not None:
        limits, book = await _limits_and_book(facts.organization_id)
        bound = limits.binding(project_id=facts.project_id, key_id=facts.key_id)
        # The month in which it ended pays; the reservation is the same in every month.
        to_charge = [_keys(limits, limit, facts.occurred_at) for limit in bound]
        charged = {counter[RESERVATIONS] for counter in to_charge}
        to_release = [counter for counter in to_release if counter[RESERVATIONS] not in charged]
        if to_charge:
            cost = counters.amount_up(await settled_cost(facts, book), limits.currency)
    for chosen, amount in ((to_charge, cost), (to_release, 0)):
        if chosen:
            keys = list(chain.from_iterable(chosen))
            recent = counters.RECENT_S
            arguments = (*keys, str(generation_id), amount, time.time(), recent)
            await async_batch().execute("EVAL", counters.SETTLE, len(keys), *arguments)


async def _rebuild(limits: OrganizationLimits, bound: list[BudgetLimit], now: datetime) -> None:
    """Rebuild counters from the ledger, once for all requests of this process that wait for it."""
    key = limits.organization_id, frozenset(limit.name for limit in bound)
    await _rebuilds.get(key, partial(in_reports, rebuild_counters, limits, bound, at=now))


def _rebuild_soon(limits: OrganizationLimits, bound: list[BudgetLimit], now: datetime) -> None:
    """The same without waiting: counters of a busy customer are renewed before they are too old."""

    async def rebuild() -> None:
        try:
            await _rebuild(limits, bound, now)
        except (RedisError, OSError, DatabaseError) as error:
            log.warning("counters_not_rebuilt", error=str(error))  # a later request waits for it

    task = asyncio.create_task(rebuild(), context=contextvars.Context())
    _under_way.add(task)
    task.add_done_callback(_under_way.discard)


def _is_unbound(facts: UsageFacts) -> bool:
    """Whether this process knows that no budget binds who is billed."""
    limits = cached_limits(facts.organization_id)
    if limits is None:
        return False
    return not limits.binding(project_id=facts.project_id, key_id=facts.key_id)


async def _limits_and_book(organization_id: UUID) -> tuple[OrganizationLimits, PriceBook]:
    """From this process's memory; only where that is stale, from the database, once for all."""
    limits = cached_limits(organization_id)
    if limits is None:
        limits = await _limits.get(
            organization_id, partial(in_database, organization_limits, organization_id)
        )
    return limits, await shared_price_book(limits.currency, organization_id)


def _keys(limits: OrganizationLimits, limit: BudgetLimit, at: datetime) -> list[str]:
    return Counter.at(limits.organization_id, limits.currency, limit.name, at).keys


def _price_moments(start: datetime, end: datetime) -> list[datetime]:
    """Moments that have every price of a span of time: a price begins at a whole hour, and a
    generation costs what it costs when it ends."""
    moments, hour = [start], next_hour(start)
    while hour <= end:
        moments.append(hour)
        hour = next_hour(hour)
    return moments


def _max_cost(
    book: PriceBook,
    payer: Payer,
    model: str,
    most: Quantities,
    at: datetime,
) -> int:
    try:
        return counters.amount_up(
            ceiling(
                quantities=most,
                model=model,
                payer=payer,
                at=at,
                book=book,
            ),
            book.currency,
        )
    except UnpricedUsage as error:
        log.warning("usage_unpriced", model=model, reason=str(error))
        return 0


def _reserved_key(generation_id: UUID) -> str:
    return f"billing:reservation:{generation_id}"


def _refusal(limit: BudgetLimit, currency: str) -> InsufficientQuota:
    if limit.scope == CREDIT:
        return InsufficientQuota(
            "The prepaid credit has no room left for this request. Ask for fewer tokens, wait for"
            " requests in flight to end, or add credit."
        )
    amount = counters.amount_of(limit.ceiling, currency)
    return InsufficientQuota(
        f"The monthly budget of this {limit.scope} ({amount:.2f} {currency}) has no room left for"
        " this request. Ask for fewer tokens, wait for requests in flight to end, or raise the"
        " budget."
    )
