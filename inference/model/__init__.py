"""Weights and modules.

config.py                    what a model is (one dataclass for the whole Llama family)
weights.py, open.py          one interface over GGUF files and Hugging Face folders
gguf_format.py, gguf_file.py, hf_folder.py   the two of them
build.py                     weights to a decoder
llama.py, layers.py, rope.py the decoder
kv_memory.py, placement.py   how many blocks fit, on which device, in which type
"""
