"""A small random Llama with a long context, as a Hugging Face folder: what it says is nothing, and
what it costs is all but its own computing."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

CONTEXT = 131072
_HIDDEN, _INNER, _HEADS, _HEAD_DIM = 64, 128, 2, 16


def write_random_model(folder: Path) -> Path:
    """One layer of two heads, whose tokens are single bytes. Returns the folder."""
    folder.mkdir(parents=True)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({char: i for i, char in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    sizes = {
        "vocab_size": len(alphabet),
        "hidden_size": _HIDDEN,
        "intermediate_size": _INNER,
        "num_hidden_layers": 1,
        "num_attention_heads": _HEADS,
        "num_key_value_heads": 1,
        "head_dim": _HEAD_DIM,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": 1e6,
        "tie_word_embeddings": True,
    }
    content = {"architectures": ["LlamaForCausalLM"], **sizes}
    (folder / "config.json").write_text(json.dumps(content))
    save_file(_weights(len(alphabet)), folder / "model.safetensors")
    return folder


def _weights(vocab: int) -> dict[str, torch.Tensor]:
    shapes = {
        "self_attn.q_proj": (_HEADS * _HEAD_DIM, _HIDDEN),
        "self_attn.k_proj": (_HEAD_DIM, _HIDDEN),
        "self_attn.v_proj": (_HEAD_DIM, _HIDDEN),
        "self_attn.o_proj": (_HIDDEN, _HEADS * _HEAD_DIM),
        "mlp.gate_proj": (_INNER, _HIDDEN),
        "mlp.up_proj": (_INNER, _HIDDEN),
        "mlp.down_proj": (_HIDDEN, _INNER),
    }
    generator = torch.Generator().manual_seed(1)
    weights = {
        f"model.layers.0.{name}.weight": torch.randn(*shape, generator=generator) * 0.1
        for name, shape in shapes.items()
    }
    for norm in ("layers.0.input_layernorm", "layers.0.post_attention_layernorm", "norm"):
        weights[f"model.{norm}.weight"] = torch.ones(_HIDDEN)
    weights["model.embed_tokens.weight"] = torch.randn(vocab, _HIDDEN, generator=generator)
    return weights
