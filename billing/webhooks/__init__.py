"""Signed notifications to customers' servers.

events.py    what is told, queued in the transaction of what happened
delivery.py  sending: signed, retried with backoff, safe from pointing into our network
services.py  endpoints, and replaying a delivery
"""
