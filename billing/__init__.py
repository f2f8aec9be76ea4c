"""Billing: every token metered once, priced exactly, budgeted, invoiced and reported.

The ledger (`UsageRecord`, in PostgreSQL) is the truth. Everything else is derived from it and
can be rebuilt: the Kafka topic, the event store, the rollups, the counters in Redis.

    services.py      writes: a usage record and its outbox row, in the caller's transaction
    selectors.py     reads: what an organization used and what it costs
    permissions.py   who may see and change an organization's money
    events.py        the usage event on the wire (schema in schemas/)
    relay/           outbox -> Kafka
    aggregator/      Kafka -> event store and hourly rollups, exactly once
    reconciliation/  ledger against event store against rollups; repair
    tiers.py         service tiers: the same model at another price
    prices/          the price book, its one look-up, and what turns usage into money
    budgets/         reservations, hard and soft limits, prepaid credit
    invoices/        monthly close, numbers, credit notes, PDF and CSV
    webhooks/        signed notifications, retried and replayable (webhook_secrets.py: what they
                     are signed with, encrypted at rest)
    payments/        a provider behind a port: payment methods, top-ups, collecting, dunning
    plans.py         plans with a price: what a month of one costs
    details.py, taxes.py    who is invoiced; tax rate and the seller's tax id by country
    abuse/           the second consumer of the topic: spikes and blocked prompts
    reports/         finance dashboard and streamed exports
    api.py, openai_api.py   routers that `backend.api` mounts
"""
