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
    prices/          the price book and the one pure function that prices anything
    budgets/         reservations, hard and soft limits, prepaid credit
    invoices/        monthly close, numbers, credit notes, PDF and CSV
    webhooks/        signed notifications, retried and replayable
    abuse/           the second consumer of the topic: spikes and blocked prompts
    reports/         finance dashboard and streamed exports
    api.py, openai_api.py   routers that `backend.api` mounts
"""
