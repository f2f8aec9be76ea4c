"""Requests and tokens a minute and concurrency, per key, user and organization.

scopes.py   which limits bind a caller
script.py   the one Lua script that checks and charges all of them
limiter.py  admits, settles, and writes the `x-ratelimit-*` headers
estimate.py tokens of a prompt before anybody has tokenized it
"""
