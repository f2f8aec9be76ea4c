"""Pools: the models that can be asked, and the replicas that serve them.

config.py         infra/pools.toml, typed
tables.py         such a file as it is written
rows.py           what staff say of models in the database, before the files
foreign.py        what vLLM and SGLang tell of themselves
registry.py       the engines that announce themselves
routing.py        which replica a generation goes to: one function a policy
prefixes.py       what a prompt begins with, and who has it;  placements.py: told to other processes
replicas.py       their state in this process;  health.py: the probes
machine.py        models of this machine: what operators ask of the launcher
demand.py         which models without an engine are asked for;  pending.py: those on their way
client.py         opens a generation's stream at a replica; probes and tokenizes
http.py           connections: HTTP/1.1 on asyncio and httptools, kept alive, closed to abort
chunks.py         what an upstream's chunk says, typed
continuation.py   the request body, also for an answer that was begun elsewhere
errors.py         what can go wrong, by what to do about it
"""
