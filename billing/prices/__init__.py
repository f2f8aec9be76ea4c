"""Prices: the book (pure), its rows (loading) and how they come about (services)."""

from billing.prices.book import LIST, Payer, PriceBook, PriceEntry, Tier, UnpricedUsage, ceiling

__all__ = ["LIST", "Payer", "PriceBook", "PriceEntry", "Tier", "UnpricedUsage", "ceiling"]
