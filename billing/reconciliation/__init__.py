"""Ledger against event store against rollups, by organization and hour.

compare.py   finds the hours that differ; changes nothing
repair.py    makes event store and rollups what the ledger says
republish.py puts events that never arrived back into the outbox
watch.py     what beat runs: compare, republish, alert
"""
