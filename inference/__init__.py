"""Parley's inference engine: paged KV cache, continuous batching, OpenAI-style HTTP.

It runs alone (`python -m inference serve --model PATH`) and imports nothing of Django
or of the folders beside it. Two processes share the work:

    server process                                engine core process
    ┌──────────────────────────────┐   pyzmq +    ┌──────────────────────────────────┐
    │ server/  HTTP, SSE, metrics  │   msgspec    │ engine/   scheduler, KV blocks   │
    │ text/    tokens <-> text     │ ◄──────────► │ runner/   a step: model, sampling│
    │ engine/client.py             │  protocol.py │ sampling/ logits -> tokens       │
    └──────────────────────────────┘              └──────────────────────────────────┘

A request is text in the server process only; the core knows token ids. So tokenizing,
detokenizing and slow readers never delay a step.

    config.py    what `serve` can be told, and its defaults
    errors.py    every failure a client can see, with its HTTP status
    protocol.py  the messages between the two processes
    engine/      scheduler, KVCacheManager over BlockPool (pure Python, no torch), the core loop
    runner/      computes a step: batch, model, KV memory, sampling
    model/       configuration, weight files, the decoder
    kernels/     its operations, by torch, by C++ on a CPU, by Triton on a GPU
    sampling/    parameters, vectorised sampler, counter-based randomness
    text/        tokenizer, chat template, streaming detokenizer, stop strings
    server/      the HTTP surface

docs/engine.md walks one request through all of it.
"""
