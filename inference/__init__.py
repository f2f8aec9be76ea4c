"""Parley's inference engine: paged KV cache, continuous batching, OpenAI-style HTTP.

It runs alone (`python -m inference serve --model PATH`) and imports nothing of Django
or of the folders beside it. Two processes share the work:

    server process                                core process
    ┌──────────────────────────────┐   pyzmq +    ┌──────────────────────────────────┐
    │ server/  HTTP, SSE, metrics  │   msgspec    │ engine/core_loop.py, engine_core │
    │ text/    tokens <-> text     │ ◄──────────► │ scheduler/ cache/ speculation/   │
    │ engine/client.py             │  protocol.py │ runner/ sampling/ model/ kernels/│
    └──────────────────────────────┘              └──────────────────────────────────┘

A request is text in the server process only; the core knows token ids. So tokenizing,
detokenizing and slow readers never delay a step.

From the top, each may import what is below it and nothing above (`[tool.importlinter]` in
`pyproject.toml`):

    cli.py, core_main.py  the two processes' beginnings: what is put together from what
    bench/                measures all of it
    server/               the HTTP surface
    connector/            prompts computed by another engine
    engine/               the core, its loop, and the client that keeps it alive
    runner/               computes a step: batch, model, KV memory, sampling
    sampling/             logits to tokens: sampler, randomness, structured output
    parallel/             a model on several ranks
    text/                 tokenizer, chat template, streaming detokenizer, stop strings
    model/                configuration, weight files, architectures, the decoder
    kernels/              its operations, by torch, by C++ on a CPU, by Triton on a GPU
    quantization/         fewer bits for weights
    scheduler/            which tokens are computed next (pure Python)
    speculation/          draft tokens
    images/               images to pixels, as each family has them (no torch)
    cache/                KV blocks and prefix reuse (pure Python)
    protocol.py           the messages between the two processes
    core.py               Request, Chunk, SamplingParams, StepResult: shared by all layers
    config.py, errors.py  the options of `serve`; every failure a client can see

docs/engine.md walks one request through all of it.
"""
