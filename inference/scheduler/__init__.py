"""Who computes what in the next step.

    scheduler.py       one budget of tokens for all requests, the queue, preemption, suspects
    prefill_budget.py  how many prompt tokens may go beside decode requests
    prompt_order.py    who runs first, and how much of a prompt is left
    batch_limit.py     smaller steps after memory ran out

Pure Python without torch, tested by a state machine (`test_scheduler_machine.py`).
"""
