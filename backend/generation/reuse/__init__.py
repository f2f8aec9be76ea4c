"""Reuse: requests that are answered by what is, or was, computed for another one of the same
organization.

keys.py       which requests may be, and by what two of them are the same
flights.py    which generation of a key runs, in whichever process (Redis)
answers.py    whole answers, encrypted, for as long as the organization wants (PostgreSQL)
plan.py       what was found for a request
finder.py     what admission and the task ask: find, join again, events of the leader, ended

A generation that reuses is one of its own in everything else: its row, its check, its usage record,
its stream. run/reused.py delivers for it; what it cannot take over it has computed.
"""
