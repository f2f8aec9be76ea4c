"""Where keys and values lie: blocks, who refers to them, and what of them is found again.

    block_pool.py        blocks alone: reference counts, hashes, eviction
    swap.py              host memory for the blocks of preempted requests, and whether it pays
    state_slots.py       slots for states of fixed size, of models that have such
    block_checks.py      whether cached blocks still hold what was computed
    layer_group.py       the pool of layers of one kind, and each request's table of its blocks
    kv_cache_manager.py  all groups' tables of requests, prefix reuse between them

Pure Python without torch, tested by a state machine (`test_scheduler_machine.py`).
"""
