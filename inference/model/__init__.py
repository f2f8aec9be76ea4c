"""Weights, modules and the runner that computes a step.

config.py      what a model is (one dataclass for the whole Llama family)
weights.py     one interface over GGUF files and Hugging Face folders
layers.py      RMSNorm, rotary embedding, linear, SwiGLU
llama.py       the decoder
attention.py   paged attention: the batch's metadata and the plain torch backend
runner.py      chunks in, sampled tokens out
"""
