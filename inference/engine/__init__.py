"""The engine core and the two ends of the line to it.

    engine_core.py   schedule, compute, report; what happens when a step fails
    core_loop.py     in the core process: messages in, steps, reports out
    core_process.py  in the server process: one life of the core process
    client.py        in the server process: requests out, results in, a new core for a dead one

Nothing here needs torch: what computes a step is given (`core.StepRunner`).
"""
