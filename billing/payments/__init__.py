"""Payments: how customers pay, through a provider behind a small port.

port         what a payment provider does for us, and what its events say
stripe_api   the port over Stripe's API, with Stripe's own package
provider     the one that the installation has configured; none, and the pages say so
services     payment methods, top-ups of prepaid credit, the events of the provider
reversals    refunds and disputes: credit that is taken back, invoices that are open again
dunning      issued invoices: mailed, charged, reminded of, and at last the suspension
plan_choice  choosing a plan (what a month of it costs: billing/plans.py)
selectors    what the billing page shows
api          the routes

Nothing here sees a card: customers type it on the provider's page. No transaction is open while a
provider is asked, and what it answers is trusted for the money only by its signed events.
"""
