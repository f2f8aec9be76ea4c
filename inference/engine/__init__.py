"""The engine core: who computes what in which step, and where its KV cache lies.

`request`, `block_pool`, `kv_cache_manager` and `scheduler` are pure Python without
torch and are tested by a state machine; `core` joins them with a model runner;
`process` runs a core in a process of its own and `client` speaks to it.
"""
