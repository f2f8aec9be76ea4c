"""A tiny random model with a tokenizer, for tests of the server that need no sense."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers

from tests.inference.byte_tokenizer import byte_tokenizer

_EOS = "<|end|>"
_TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"


def make_tiny_model(
    folder: Path, *, num_key_value_heads: int = 1, context: int = 256, ends: bool = True
) -> Path:
    """A Llama of two layers, whose tokens are single bytes, saved as Hugging Face does.

    Args:
        ends: whether it has a token that ends an answer.
    """
    tokenizer = byte_tokenizer(_EOS)
    config = transformers.LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=num_key_value_heads,
        max_position_embeddings=context,
        bos_token_id=None,
        eos_token_id=tokenizer.token_to_id(_EOS) if ends else None,
        initializer_range=0.3,
    )
    torch.manual_seed(1)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(_TEMPLATE)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
