"""What all apps use, once each; imports no other app.

errors.py     every error that a client may see, in OpenAI's shape
database.py   synchronous transactions from the event loop
redis.py      every client of Redis, pooled, one for each event loop
json.py       the one encoder of answers, stream events and WebSocket messages
sse.py        the framing of server-sent events, out and in
"""
