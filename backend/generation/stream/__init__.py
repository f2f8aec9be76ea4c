"""The stream buffer in Redis, and who reads and writes it.

keys.py      every key, in one place
scripts.py   the Lua scripts; each keeps one invariant, atomically
log.py       one generation's events in this process, and how far Redis has them
writer.py    appends the events of all generations of the process, many at a time
follower.py  reads generations of other processes: one connection for all of them
leases.py    who may write: opening, renewing, claiming, closing
reader.py    a generation's events, wherever it runs;  replay.py: its answer, read back from them

Invariants:
- an entry `<seq>-0` is appended only by the holder of the lease, and only after `<seq - 1>-0`;
- of two holders the higher epoch wins, and the epoch is counted in PostgreSQL;
- a reader is shown an event only after Redis has acknowledged it.
"""
