"""Faults at the product's own doors: `make run` as it is, with the real model, killed and frozen.

    targets.py    what can be killed of a `manage.py up`, and whether it has come back
    faults.py     the random steps: who is hit, how, and when
    readers.py    people and programs at the doors: page, API, batch, WebSocket
    agreement.py  what each read, what is stored and what is billed, held against each other

The run is `tests/chaos/test_faults_at_the_doors.py`.
`PARLEY_CHAOS_SEED` and `PARLEY_CHAOS_KILLS` choose a run; `make chaos-doors` makes long ones.
"""
