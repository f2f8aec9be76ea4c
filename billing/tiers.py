"""Service tiers: the same model at another price.

Usage of a tier is metered under the model's name with the tier behind it (`smollm2-135m:batch`),
so each tier is a line of its own wherever usage, costs and invoices are told apart by model, and
counts its own volume. Its price is its own row of the price book where there is one, else the
model's price times the tier's factor (`PriceFactor`).
"""

from decimal import Decimal

BATCH = "batch"
FLEX = "flex"
PRIORITY = "priority"
TIERS = (BATCH, FLEX, PRIORITY)

LIST_FACTORS = {BATCH: Decimal("0.5"), FLEX: Decimal("0.5"), PRIORITY: Decimal("2")}
"""What a new installation begins with."""

_SEPARATOR = ":"


def priced_model(model: str, tier: str) -> str:
    """The name under which usage of `model` in `tier` is metered; "" is the usual tier."""
    return f"{model}{_SEPARATOR}{tier}" if tier else model


def model_and_tier(name: str) -> tuple[str, str]:
    """`priced_model` undone: a name without a tier has the tier ""."""
    model, separator, tier = name.rpartition(_SEPARATOR)
    return (model, tier) if separator and tier in TIERS else (name, "")


def model_without_adapter(name: str) -> str:
    """The model of `model:adapter`; "" where `name` has no adapter."""
    return name.rpartition(_SEPARATOR)[0]
