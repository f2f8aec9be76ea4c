"""What all apps use, once each; imports no other app.

errors.py     every error that a client may see, in OpenAI's shape
moments.py    moments that clients send, in UTC
ids.py        ids that begin with the time
bench_database.py  a database of its own for a benchmark
database.py   synchronous transactions from the event loop
metrics.py    series of metrics, each looked up once
redis.py      every client of Redis, pooled, one for each event loop
lock.py       a name that one holder has in all processes, until it stops renewing it
keys.py       the keyring: versioned master secrets, a key for each purpose
key_files.py  the file that holds them
encryption.py texts at rest, short-lived tokens and keyed hashes, each with the key of its purpose
sessions.py   session rows under another key
reencryption.py, rotation.py, checks.py  every keyed column moved to a new version, old ones dropped
cancellation.py  work that a cancellation must not cut in half
cache.py      what the cache keeps in Redis
json.py       the one encoder of answers, stream events and WebSocket messages
sse.py        the framing of server-sent events, out and in
model_admins.py  what read-only pages of the admin site have in common
"""
