"""Prices: the book (pure), its rows (loading) and how they come about (services)."""

from billing.prices.book import PriceBook, PriceEntry, Tier, UnpricedUsage, ceiling, cost

__all__ = ["PriceBook", "PriceEntry", "Tier", "UnpricedUsage", "ceiling", "cost"]
