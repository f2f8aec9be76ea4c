"""Measures the engine beside its peers: `python -m inference.bench --model PATH`.

    client.py      one streamed request to an OpenAI-style server, with the time of every token
    metrics.py     what vLLM's benchmark reports, from such timings
    workloads.py   what is asked and when
    pools.py       the sampling that the product asks for
    lengths.py     a published mix of prompt and answer lengths
    engine.py      serves the model, runs the workloads
    peers/         transformers (static and continuous batches), llama.cpp, OpenVINO, a process each
    one_thread.py  the model alone beside llama.cpp: `python -m inference.bench.one_thread`
    limits.py      what the machine could do at most
    report.py      tables, JSON and the plot
    start.py       how long loading takes, and memory: `python -m inference.bench.start`
    prefill.py     where the time of a prompt goes: `python -m inference.bench.prefill`
    decode.py      decode steps by context, and their limit: `python -m inference.bench.decode`
    context.py     what long contexts cost: `python -m inference.bench.context`
    beside.py      chats beside a long prompt: `python -m inference.bench.beside`
    windows.py     memory of a context, of models with windows: `python -m inference.bench.windows`
    gpu.py         our kernels on a GPU: `python -m inference.bench.gpu`
    perplexity.py  what quantization costs: `python -m inference.bench.perplexity`

Each program has the machine for itself while it is measured, all in one run, so that ratios
mean something also on a machine that is not quite idle.
"""
