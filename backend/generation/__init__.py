"""One generation from admission to its terminal state: limits, queue, routing, stream, resume.

services.py     what `api` calls: start, events, result, cancel
types.py        the values that pass between api, gateway and the stream buffer
lifespan.py     wraps the ASGI application: starts and drains everything below
runtime.py      the process's one Gateway: shared clients, live generations, background loops

limits/         requests and tokens a minute, concurrency: one Lua script in Redis
arrivals.py     who is refused before a request is looked at
queue.py        who gets the next free place at a replica; bounded, fair by plan and age
pools.py        infra/pools.toml, typed;  replicas.py: their state here;  health.py: the probes
upstream/       HTTP to engines: connections, SSE, the chunks, continuation of partial answers
output/         from upstream text to released text: post-classifier, stop of accounting, chunks
stream/         the buffer in Redis: keys, scripts, batched writer, readers, leases
runner.py       one generation's task;  terminal.py: its one terminal transaction
takeover.py     generations whose process died;  reaper.py: those whose buffer died too
models.py       the table;  metrics.py: Prometheus

docs/generation.md walks one generation through these files, and through every failure.
"""
