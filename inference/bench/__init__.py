"""Measures a served engine over HTTP: `python -m inference.bench --model PATH`.

    workloads.py   what is asked, and the times that come back
    peers.py       transformers on the same machine, and the machine's own limits
    __main__.py    starts the engine, runs everything, prints a table (and JSON)

Metric names are those of vLLM's benchmark: TTFT (time to first token), TPOT (mean time per
further token), ITL (time between two tokens).
"""
