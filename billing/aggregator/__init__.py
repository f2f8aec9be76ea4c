"""Kafka to the event store and the hourly rollups, each event counted once.

`ingest.py` stores one batch in one transaction, `worker.py` is the process.
"""
