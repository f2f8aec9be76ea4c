"""HTTP to engines, as far as a generation needs it.

http.py          connections: HTTP/1.1 on asyncio and httptools, kept alive, closed to abort
sse.py           the event stream's framing
pieces.py        what an upstream's chunk says, typed
client.py        opens a generation's stream at a replica; probes and tokenizes
continuation.py  the request body, also for an answer that was begun elsewhere
errors.py        what can go wrong, by what to do about it
"""
