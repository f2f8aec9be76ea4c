"""Embedded services: real servers from PyPI wheels, started for one clone of the repository.

Each service is one class with the same few members (`Service`): `start()`, `stop()`, `url`.
They listen on 127.0.0.1 only, keep their data in a directory that the caller names, and die
with the process that started them, also when that one is killed with SIGKILL.

`process.py` starts and ends processes, `unprivileged.py` drops root for PostgreSQL,
`bundle.py` lists them and starts them together, `documented.py` writes their rows of
docs/operations.md, `keeper.py` brings back what dies (`liveness.py`: or falls
silent; `restarts.py`: when); the rest is one file for each service.

Names are imported from these files: whoever starts a process needs no client of a database.
"""
