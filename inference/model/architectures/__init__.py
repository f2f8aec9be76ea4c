"""A file for each family of models; `registry.py` has a line for each.

llama.py      Llama, and what most families have: the others say what differs
mistral.py    a sliding window
mixtral.py    Mistral with a mixture of experts
qwen2.py      another way to say which layers have a window
qwen3.py      norms over each head of queries and keys
qwen3_moe.py  Qwen3 with a mixture of experts
qwen2_moe.py  Qwen2 with a mixture of experts, one of which every token goes to
smollm3.py    layers that do not rotate
olmo2.py      norms after each branch
granite.py    factors on embeddings, scores, branches and logits
gemma2.py     norms before and after each branch, capped scores and logits
gemma3.py     Gemma 2 with norms over each head, and two rotations
phi3.py       joined matrices, a part of each head that does not turn
gpt_oss.py    attention with sinks, experts in MXFP4
deepseek.py   attention through a latent vector, experts in groups
llama4.py     attention within chunks, experts beside one that every token goes to
falcon_h1.py  attention and a recurrent state side by side
bert.py       an encoder
"""
