"""Computed prefixes from elsewhere: from an engine that computes prompts, or from a store.

    messages.py        what the two say to each other
    pool_keys.py       what is said between hosts is encrypted, and open to this pool alone
    payload.py         shared memory for the bytes, on one host (over TCP: in the message)
    prefill_server.py  the engine that computes prompts: `python -m inference.connector`
    outgoing.py        a prompt's blocks, sent layer by layer while it is computed
    zmq_connector.py   the other one asks and receives, in a thread beside its steps
    incoming.py        a prompt's blocks, written to its cache as they come
    remote_prefill.py  its requests whose prompts are away
    carriers.py        what both ways make of a message
    kv_offload.py      computed prefixes to the store and back, beside the steps
    kv_store.py        its tiers: host memory, a folder; kv_bucket.py a bucket of S3
    kv_cipher.py       a key for each tenant; kv_place.py what an engine's options name

What is handed over are the full blocks before a prompt's last token, put into the prefix
cache of the engine that generates once all layers of them are there: a request finds them like
any cached prefix, computes the rest itself and samples with its own seed. So tokens are the same
as from one engine, and when the peer is away, too slow or another model, nothing is found and the
prompt is computed here.
Source: Zhong et al. 2024 (DistServe).
"""
