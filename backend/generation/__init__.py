"""One generation from admission to its end, in rooms in the order of its life.

    admit     admission/   load shedding, queue, rate limits, budget, prompt check, the row
    run       run/         the task that asks a replica (pools/) and checks what it says
    deliver   stream/      the buffer in Redis between the task and its readers, in any process
    finish    finish/      final state, usage and message in one transaction
    recover   recovery/    failover, reaper, heartbeat, disconnects

admit.py      a request through admission, at whichever model serves it
service.py    what `api` calls: start, events, result, cancel
request.py    the values that pass between api, these rooms and the stream buffer
records.py    the terminal transaction;  models.py: the table
gateway.py    the process's one Gateway: shared clients, active generations, background loops
lifespan.py   wraps the ASGI application: starts and drains the gateway
metrics.py    Prometheus

docs/generation.md walks one generation through these rooms, and through every failure.
"""
