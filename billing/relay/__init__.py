"""Outbox to Kafka. `outbox.py` claims and marks rows, `worker.py` is the process."""
