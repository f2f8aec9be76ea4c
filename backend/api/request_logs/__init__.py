"""What API keys have asked for: counted always, logged where the organization wants that.

note.py      called at the end of each request; remembers it for a second
loop.py      writes what was noted, beside the requests of a web process
rows.py      the tables' only writer, and the purge
queries.py   who may see what: lists, search, one request; counts of a key
replay.py    a logged request as a chat that can be asked again

A log and not an account: what a process has noted in its last second is lost with it. Money is
counted elsewhere (billing/).
"""
