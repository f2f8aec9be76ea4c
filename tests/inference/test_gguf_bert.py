"""A BERT in a GGUF file, as llama.cpp's converter writes it, is the BERT of its folder: its vectors
are transformers', and its tokens those of the folder's own tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf.constants import MODEL_ARCH, GGMLQuantizationType, PoolingType, TokenType
from gguf.quants import dequantize, quantize

from inference.errors import ModelLoadError
from inference.model.files.open import open_weights
from inference.model.files.sources import fetch
from inference.text.load import load_text
from tests.inference.conftest import make_driver
from tests.inference.test_embeddings import embed
from tests.inference.test_encoders import TEXTS, make_bert, reference
from tests.support.minilm import CACHE, MINILM, REFERENCE

OTHER_TEXTS = [
    "Grüße, naïve CAFÉ; İstanbul, Ωmega — 東京 and 🙂",
    "unbelievably hyper-parametrisation [MASK] ##ing ▁x",
    "  spaces,\n\nlines\tand \u0000control\u00a0characters ",
    "",
    "a" * 300,
]


def write(
    path: Path,
    model: transformers.BertModel,
    pooling: PoolingType = PoolingType.MEAN,
    kind: GGMLQuantizationType = GGMLQuantizationType.F32,
) -> Path:
    config = model.config
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(pooling)
    names = gguf.get_tensor_name_map(MODEL_ARCH.BERT, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        if name.startswith("pooler"):
            continue
        theirs = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert theirs is not None, name
        used = kind if "attn_" in theirs and tensor.ndim == 2 else GGMLQuantizationType.F32
        writer.add_tensor(theirs, quantize(tensor.numpy(), used), raw_dtype=used)
    return finish(writer, path)


def finish(writer: gguf.GGUFWriter, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_vocabulary(path: Path, folder: Path) -> Path:
    """The vocabulary of a folder, alone."""
    known = json.loads((folder / "tokenizer.json").read_text())
    special = {token["content"] for token in known["added_tokens"]}
    by_id = sorted(known["model"]["vocab"], key=known["model"]["vocab"].__getitem__)
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_tokenizer_model("bert")
    writer.add_token_list(
        [t if t in special else t[2:] if t.startswith("##") else f"\u2581{t}" for t in by_id]
    )
    writer.add_token_types(
        [TokenType.CONTROL if token in special else TokenType.NORMAL for token in by_id]
    )
    writer.add_unk_token_id(by_id.index("[UNK]"))
    writer.add_bos_token_id(by_id.index("[CLS]"))
    writer.add_sep_token_id(by_id.index("[SEP]"))
    return finish(writer, path)


@pytest.mark.parametrize("kind", [GGMLQuantizationType.F32, GGMLQuantizationType.Q8_0])
def test_file_of_an_encoder_gives_the_same_vectors_as_transformers(kind, tmp_path):
    model = make_bert(tmp_path / "folder")
    with torch.inference_mode():
        path = write(tmp_path / "model.gguf", model, kind=kind)
        for name, parameter in model.named_parameters():
            if "attention" in name and parameter.ndim == 2:
                rounded = dequantize(quantize(parameter.numpy(), kind), kind)
                parameter.copy_(torch.from_numpy(rounded))
    driver = make_driver(path)
    for found, text in zip(embed(driver, *TEXTS), TEXTS, strict=True):
        np.testing.assert_allclose(found, reference(model, text), atol=2e-6)


def test_file_of_an_encoder_that_does_not_take_the_mean_is_refused(tmp_path):
    path = write(tmp_path / "model.gguf", make_bert(tmp_path / "folder"), PoolingType.CLS)
    with pytest.raises(ModelLoadError, match="pooling_type 2"):
        open_weights(str(path))


@pytest.mark.model
def test_vocabulary_of_an_encoder_in_a_file_gives_the_tokens_of_its_folder(tmp_path):
    folder = fetch(MINILM, cache=CACHE)
    own, _ = load_text(str(folder))
    found, _ = load_text(str(write_vocabulary(tmp_path / "vocabulary.gguf", folder)))
    assert found.special_tokens == own.special_tokens
    for text in [*json.loads(REFERENCE.read_text())["texts"], *OTHER_TEXTS]:
        assert found.encode(text) == own.encode(text)
