"""Fewer bits: how far from the exact product, on every way from a file to a token."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind

from inference.bench.perplexity import perplexity_ratio, read_tokens, text_logprobs
from inference.config import EngineConfig, Rounding
from inference.core import SamplingParams
from inference.engine.engine_core import EngineCore
from inference.errors import ModelLoadError
from inference.kernels.batch import Batch, LayerCache, PrefillChunk
from inference.kernels.cpu.backend import CpuBackend
from inference.model.build import build_decoder, build_model
from inference.model.files.open import open_weights
from inference.model.placement import pick_precision
from inference.quantization.precision import Precision
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import Driver, compiled, greedy
from tests.inference.test_families import make_folder
from tests.inference.test_gguf_formats import write_model

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def kernels() -> ctypes.CDLL:
    found = compiled()
    if not found.parley_has_int8():
        pytest.skip("no int8 products on this processor")
    return found


def logits_of(path, precision: Precision) -> torch.Tensor:
    """Of every token of a short text."""
    model = build_decoder(open_weights(str(path)), torch.float32, CPU, precision)
    config = model.config
    count = 40
    slots = torch.arange(count)
    caches = [
        LayerCache(*torch.zeros(2, count, config.num_kv_heads, config.head_dim))
        for _ in range(config.num_layers)
    ]
    ids = (torch.arange(count) * 7) % 90 + 3
    batch = Batch(ids, slots, slots, None, (PrefillChunk(0, count, 0, slots),), slots)
    with torch.inference_mode():
        return model(batch, caches).log_softmax(-1)


def divergence(one: torch.Tensor, other: torch.Tensor) -> float:
    """Mean KL divergence of two predictions."""
    return float((one.exp() * (one - other)).sum(-1).mean())


def test_rounded_weights_stay_close_to_dense_ones(kernels, tmp_path):
    make_folder("llama", tmp_path)
    exact = logits_of(tmp_path, Precision())
    int8 = divergence(exact, logits_of(tmp_path, Precision("int8")))
    int4 = divergence(exact, logits_of(tmp_path, Precision("int4")))
    assert 0 < int8 < 1e-3
    assert int8 < int4 < 0.3


@pytest.mark.parametrize("family", ["llama-tied", "qwen3", "qwen3-moe", "llama-attention-bias"])
def test_int8_activations_for_every_kind_of_layer(kernels, family, tmp_path):
    make_folder(family, tmp_path)
    exact = logits_of(tmp_path, Precision())
    assert 0 < divergence(exact, logits_of(tmp_path, Precision(int8_activations=True))) < 1e-2


@pytest.mark.parametrize("kind", [Kind.Q4_1, Kind.Q8_0, Kind.Q4_K, Kind.Q6_K])
def test_int8_activations_straight_from_a_file(kernels, kind, tmp_path):
    path = tmp_path / "tiny.gguf"
    write_model(path, kind)
    exact = logits_of(path, Precision())
    assert 0 < divergence(exact, logits_of(path, Precision(int8_activations=True))) < 0.1


def test_auto_rounds_activations_where_this_machine_can(kernels, tmp_path):
    make_folder("llama", tmp_path)
    assert asked_for("auto", tmp_path).int8_activations
    assert not asked_for("auto", tmp_path, torch.bfloat16).int8_activations
    assert not asked_for("off", tmp_path).int8_activations


def test_auto_stays_float32_where_no_kernel_can_be_compiled(tmp_path, monkeypatch):
    make_folder("llama", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    auto, on = asked_for("auto", tmp_path), asked_for("on", tmp_path)
    assert auto == Precision()
    build_model(open_weights(str(tmp_path)), torch.float32, CPU, auto)
    with pytest.raises(ModelLoadError, match="compiler"):
        build_model(open_weights(str(tmp_path)), torch.float32, CPU, on)


@pytest.mark.parametrize("int8", [False, True])
def test_attention_of_prompts_is_rounded_where_activations_are(
    kernels, int8, tmp_path, monkeypatch
):
    make_folder("llama", tmp_path)
    asked, kept = [], CpuBackend.__init__

    def begin(self: CpuBackend, library: ctypes.CDLL, *, rounds_attention: bool) -> None:
        asked.append(rounds_attention)
        kept(self, library, rounds_attention=rounds_attention)

    monkeypatch.setattr(CpuBackend, "__init__", begin)
    logits_of(tmp_path, Precision(int8_activations=int8))
    assert asked == [int8]


@pytest.mark.model
@pytest.mark.parametrize(
    "limit",
    [
        256,
        pytest.param(
            1024,
            marks=pytest.mark.nightly(
                beside="tests/inference/test_quantization.py"
                "::test_int8_activations_raise_perplexity_by_less_than_half_a_percent"
            ),
        ),
    ],
)
def test_int8_activations_raise_perplexity_by_less_than_half_a_percent(kernels, model_path, limit):
    """Decision 0096. Two standard errors are allowed for: the text is short."""
    tokens = read_tokens(str(model_path), limit=limit)
    exact, rounded = (
        text_logprobs(str(model_path), way, tokens)
        for way in ((Precision(), torch.float32), (Precision(int8_activations=True), torch.float16))
    )
    ratio, error = perplexity_ratio(rounded, exact)
    assert ratio - 2 * error < 1.005
    assert error < 0.005


def asked_for(rounding: Rounding, folder: Path, dtype: torch.dtype = torch.float32) -> Precision:
    config = EngineConfig(model=str(folder), int8_activations=rounding)
    return pick_precision(config, open_weights(str(folder)), dtype, CPU)


def test_quantization_without_kernels_is_refused(tmp_path, monkeypatch):
    make_folder("llama", tmp_path)
    with pytest.raises(ModelLoadError, match="float32"):
        build_model(open_weights(str(tmp_path)), torch.bfloat16, CPU, Precision("int8"))


def test_cached_prompt_changes_no_bit_of_the_answer(kernels, tmp_path):
    """With rounded activations: an answer's log probabilities are those of the same request whose
    prompt was computed whole, whatever part of it was cached and however few tokens were left."""
    path = tmp_path / "tiny.gguf"
    write_model(path, Kind.Q4_K)
    config = EngineConfig(
        model=str(path), num_blocks=64, num_threads=1, int8_activations="on", max_model_len=128
    )
    driver = Driver(EngineCore(config, ModelRunner(config)))
    prompt = [(7 * i * i + 5) % 90 + 3 for i in range(112)]
    sampling = greedy(max_tokens=3, logprobs=3)
    for length in (112, 97, 98, 111, 81, 17, 2):
        cold = answer(driver, prompt[:length], sampling, salt=f"cold {length}")
        driver.generate(prompt[: length - 1], greedy(max_tokens=1))
        warm = answer(driver, prompt[:length], sampling, salt="")
        assert warm == cold, length
    assert driver.cached[max(driver.cached, key=lambda name: int(name[1:]))] == 0
    assert sum(driver.cached.values()) > 300


def answer(driver: Driver, prompt: list[int], sampling: SamplingParams, salt: str):
    """Tokens and log probabilities of one request."""
    request_id = driver.add(prompt, sampling, salt=salt)
    found: list[object] = []
    while driver.core.scheduler.has_work:
        for output in driver.core.step():
            driver.cached[request_id] = output.cached_tokens
            found += zip(output.new_token_ids, output.logprobs or [], strict=True)
    return found


@pytest.mark.parametrize(
    ("family", "precision", "can_be_recorded"),
    [
        ("llama", Precision("int8"), True),
        ("qwen3-moe", Precision("int8"), False),
        ("qwen3-moe", Precision(), False),
    ],
)
def test_layers_that_wait_for_the_device_are_not_recorded(
    kernels, family, precision, can_be_recorded, tmp_path
):
    """Experts with rounded weights are computed one by one, as far as some token chose them: which
    ones has to be read back, and a CUDA graph cannot hold that."""
    make_folder(family, tmp_path)
    model = build_decoder(open_weights(str(tmp_path)), torch.float32, CPU, precision)
    assert model.layers.can_be_recorded is can_be_recorded
