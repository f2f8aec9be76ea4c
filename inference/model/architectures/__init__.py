"""A file for each family of models; `registry.py` has a line for each.

llama.py      Llama, and what most families have: the others say what differs
mistral.py    a sliding window
mixtral.py    Mistral with a mixture of experts
qwen2.py      another way to say which layers have a window
qwen3.py      norms over each head of queries and keys
qwen3_moe.py  Qwen3 with a mixture of experts
"""
