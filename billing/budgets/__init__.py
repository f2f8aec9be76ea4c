"""Budgets, enforced inline: reserve the most a generation can cost, settle what it did cost.

    inline.py     `reserve` and `settle`, called by the gateway for every generation
    counters.py   the counters in Redis and the scripts that change them atomically
    limits.py     which limits bind a caller, read from PostgreSQL and kept for seconds
    spending.py   what was spent, from the ledger: what lost counters are rebuilt from

The ledger is the truth. Redis holds sums that can be lost at any time: a request that finds
its counter gone rebuilds it. docs/decisions/0051 explains why this never counts twice.
"""

from billing.budgets.inline import Reservation, reserve, settle

__all__ = ["Reservation", "reserve", "settle"]
