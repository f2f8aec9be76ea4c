"""How prices come about. A price never changes under usage already recorded.

That holds because rows are only ever added, begin at a whole hour, and that hour lies in the
future wherever usage is priced already. Whole hours, so that an hourly rollup has one price.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from uuid import UUID

import structlog
from django.db import connection, transaction

from backend.accounts.models import Project
from backend.platform.errors import InvalidRequest
from billing.currencies import currency_code
from billing.models import Price, PriceFactor
from billing.prices.book import LIST, Payer, PriceBook, Tier, check_tiers
from billing.prices.loading import DEFAULT_CURRENCY, clear_price_cache, load_book, tiers_to_json
from billing.quantities import Kind
from billing.tiers import LIST_FACTORS, TIERS

log = structlog.get_logger(__name__)

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""From when a model's first price applies, so that no earlier usage is left without one."""

MAX_DECIMALS = 9
"""Digits after the point of a price per 1,000 tokens; a token's price then has 12."""

_LOCK = "billing.prices"

Tiers = tuple[Tier, ...]


def prices_set(
    *,
    model: str,
    prices: Mapping[Kind, Tiers | None],
    effective_from: datetime,
    owner: Payer = LIST,
    currency: str = DEFAULT_CURRENCY,
    by_user_id: UUID | None = None,
    note: str = "",
) -> list[Price]:
    """Set prices of a model from a whole hour on, for all organizations, for one, or for one of its
    projects.

    Args:
        prices: by kind; None takes an organization's or a project's own price back.
    Raises:
        InvalidRequest: tiers that make no sense, a project that is not the organization's, not
            a whole hour, or a moment in the past for something that has a price already.
    """
    with transaction.atomic():
        _lock_prices()
        prices_check(
            model=model,
            prices=prices,
            effective_from=effective_from,
            owner=owner,
            currency=currency,
        )
        rows = [
            Price(
                currency=currency,
                organization_id=owner.organization_id,
                project_id=owner.project_id,
                model=model,
                kind=kind,
                tiers=tiers_to_json(tiers),
                effective_from=effective_from,
                note=note,
                created_by_id=by_user_id,
            )
            for kind, tiers in prices.items()
        ]
        Price.objects.bulk_create(rows)
    clear_price_cache()
    return rows


def prices_check(
    *,
    model: str,
    prices: Mapping[Kind, Tiers | None],
    effective_from: datetime,
    owner: Payer = LIST,
    currency: str = DEFAULT_CURRENCY,
) -> None:
    """What `prices_set` would refuse, it refuses; nothing is written. For forms."""
    _check_owner(owner)
    currency = currency_code(currency)
    for kind, tiers in prices.items():
        _check(kind, tiers, owner)
    if effective_from.minute or effective_from.second or effective_from.microsecond:
        raise InvalidRequest("A price must begin at a whole hour.", param="effective_from")
    if effective_from <= datetime.now(UTC):
        _check_nothing_is_repriced(model, prices, owner, load_book(currency))


def prices_seed(*, prices: Mapping[str, Mapping[str, str | Decimal]]) -> int:
    """Give models that have no list price yet their first one; leave all others alone.

    Args:
        prices: model -> kind (`input`, `cached_input`, `output`, …) -> price per 1,000 tokens
            in the default currency, as the pools file says it.
    Returns:
        How many models were given prices. Safe to call from several processes and every start.
    """
    seeded = 0
    with transaction.atomic():
        _lock_prices()
        priced = set(
            Price.objects.filter(organization=None, currency=DEFAULT_CURRENCY)
            .values_list("model", flat=True)
            .distinct()
        )
        _factors_seed()
        for model, by_kind in prices.items():
            if model in priced or not by_kind:
                continue
            prices_set(
                model=model,
                prices={
                    Kind(kind): (Tier(0, Decimal(str(price))),) for kind, price in by_kind.items()
                },
                effective_from=BEGINNING,
                note="from the pools file",
            )
            seeded += 1
    if seeded:
        log.info("prices_seeded", models=seeded)
    return seeded


def price_factor_set(
    *,
    tier: str,
    factor: Decimal,
    effective_from: datetime,
    by_user_id: UUID | None = None,
    note: str = "",
) -> PriceFactor:
    """Set what a service tier costs, as a multiple of each model's price, from a whole hour on.

    Raises:
        InvalidRequest: an unknown tier, a factor below zero or with more than three decimals,
            not a whole hour, or one in the past for a tier that has a factor.
    """
    if tier not in TIERS:
        raise InvalidRequest(f"There is no tier {tier!r}.", param="tier")
    if not factor.is_finite() or factor < 0 or factor != round(factor, 3):
        raise InvalidRequest(
            "A factor is zero or more, with at most three decimals.", param="factor"
        )
    if effective_from != effective_from.replace(minute=0, second=0, microsecond=0):
        raise InvalidRequest("A price must begin at a whole hour.", param="effective_from")
    with transaction.atomic():
        _lock_prices()
        is_set = PriceFactor.objects.filter(tier=tier).exists()
        if is_set and effective_from <= datetime.now(UTC):
            raise InvalidRequest(
                f"{tier} has a factor already; a new one begins in the future.",
                param="effective_from",
            )
        row = PriceFactor.objects.create(
            tier=tier,
            factor=factor,
            effective_from=effective_from,
            created_by_id=by_user_id,
            note=note,
        )
    clear_price_cache()
    return row


def _factors_seed() -> None:
    known = set(PriceFactor.objects.values_list("tier", flat=True))
    for tier, factor in LIST_FACTORS.items():
        if tier not in known:
            price_factor_set(tier=tier, factor=factor, effective_from=BEGINNING)


def next_hour(now: datetime) -> datetime:
    """The earliest moment at which a new price of something already priced may begin."""
    return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def _check_owner(owner: Payer) -> None:
    organization_id, project_id = owner
    if project_id is None:
        return
    if organization_id is None:
        raise InvalidRequest("Name the organization whose project it is.", param="organization")
    if not Project.objects.filter(pk=project_id, organization_id=organization_id).exists():
        raise InvalidRequest(
            f"Project {project_id} is not one of this organization's.", param="project"
        )


def _check(kind: Kind, tiers: Tiers | None, owner: Payer) -> None:
    if tiers is None:
        if owner == LIST:
            raise InvalidRequest("A list price can be replaced, not taken back.", param="tiers")
        return
    try:
        check_tiers(tiers)
    except (ValueError, InvalidOperation) as error:
        raise InvalidRequest(f"Price of {kind}: {error}.", param="tiers") from error
    for tier in tiers:
        exponent = tier.price.as_tuple().exponent
        if isinstance(exponent, int) and -exponent > MAX_DECIMALS:
            raise InvalidRequest(
                f"Price of {kind}: {tier.price} has more than {MAX_DECIMALS} decimals.",
                param="tiers",
            )


def _check_nothing_is_repriced(
    model: str, kinds: Mapping[Kind, Tiers | None], owner: Payer, book: PriceBook
) -> None:
    now = datetime.now(UTC)
    for kind in kinds:
        if book.would_reprice(owner=owner, model=model, kind=kind, at=now):
            raise InvalidRequest(
                f"{model} has a price for {kind} already; a new one begins in the future.",
                param="effective_from",
            )


def _lock_prices() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [_LOCK])
