"""Finance's pages in the admin. What the product wrote is read-only; money is moved by services."""

from billing.admin import abuse, budgets, invoices, payments, prices, usage, webhooks

__all__ = ["abuse", "budgets", "invoices", "payments", "prices", "usage", "webhooks"]
