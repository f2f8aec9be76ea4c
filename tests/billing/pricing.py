"""What quantities cost, by the code that prices everything."""

from datetime import datetime
from decimal import Decimal

from billing.prices import Payer, PriceBook
from billing.prices.usage import Pricer, UsageBucket
from billing.quantities import Quantities, TokenCounts
from tests.billing.factories import uuid

ANYBODY = Payer(uuid(9))
"""An organization without prices of its own pays the list's."""


def cost(
    *,
    quantities: Quantities,
    model: str,
    at: datetime,
    book: PriceBook,
    payer: Payer = ANYBODY,
    used_before: Quantities | None = None,
) -> Decimal | None:
    """Exactly; None where a kind that was used has no price.

    Args:
        used_before: of the same payer, in the month before; decides the tier.
    """
    assert payer.organization_id is not None
    pricer = Pricer(organization_id=payer.organization_id, book=book)
    if used_before is not None:
        pricer.count(bucket(used_before, model=model, at=at, payer=payer))
    priced = pricer.price(bucket(quantities, model=model, at=at, payer=payer))
    return None if pricer.unpriced else priced.cost


def bucket(quantities: Quantities, *, model: str, at: datetime, payer: Payer) -> UsageBucket:
    counts = {
        kind.value: quantity + sum(getattr(quantities, part) for part in kind.parts)
        for kind, quantity in quantities.items()
    }
    return UsageBucket(at, model, 1, TokenCounts(**counts), project_id=payer.project_id)
