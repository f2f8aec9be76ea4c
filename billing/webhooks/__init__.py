"""Signed notifications to customers' servers.

events.py     what is sent, queued in the transaction of what happened
delivery.py   sending: signed, each with one deadline, retried with backoff, few at once
addresses.py  what keeps a URL from pointing into our network
endpoints.py  whether an endpoint works: disabled after repeated failure, with a mail to owners
services.py   endpoints added, deleted and enabled, deliveries replayed
"""
