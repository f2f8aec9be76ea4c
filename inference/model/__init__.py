"""Models: what they are, where their weights are, and the decoder that is made of both.

    config.py          the sizes that most have
    layers/            what decoders are made of
    vision/            what looks at images
    decoder.py         layers one after another, and what is before and after them
    cuda_graphs.py     a GPU's decode steps, recorded once and replayed
    architecture.py    what the file of an architecture says, and what it may ask of the loader
    reading/           what configurations have in common, in both formats
    architectures/     a file for each family
    registry.py        a line for each family
    gguf_format.py     GGUF's metadata and where its tensors lie
    files/             readers of GGUF files and Hugging Face folders; where both come from
    build.py           weights to a decoder
    kv_memory.py, placement.py   how many KV blocks fit; on which device, in which type

Each may import those above it only (`[tool.importlinter]` in `pyproject.toml`).
"""
