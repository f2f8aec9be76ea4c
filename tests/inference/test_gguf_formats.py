"""Every GGUF weight format that we read, against transformers reading the same file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import quantize
from transformers import AutoConfig, AutoModelForCausalLM, LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from inference.errors import ModelLoadError
from inference.model.gguf_format import GGUFFile
from tests.inference.conftest import greedy
from tests.inference.test_families import make_driver, reference_answer

HIDDEN, INNER, HEADS, KV_HEADS, LAYERS, VOCAB = 256, 512, 4, 2, 2, 96
PROMPT = [(5 * i * i + 3) % 90 + 3 for i in range(30)]


def random_blocks(kind: Kind, rows: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Random quantized rows for the formats that the gguf package cannot write."""
    block, size = GGML_QUANT_SIZES[kind]
    data = rng.integers(0, 256, (rows, width // block, size), dtype=np.uint8)

    def half(value: float) -> np.ndarray:
        return np.frombuffer(np.float16(value).tobytes(), np.uint8)

    if kind is Kind.Q4_K:  # scale * 0..15 - least, about zero on average
        data[..., 0:2], data[..., 2:4] = half(2e-4), half(1.5e-3)
    else:
        data[..., -2:] = half(2e-4)
    return data.reshape(rows, -1)


def write_model(
    path: Path,
    kind: Kind,
    change: Callable[[gguf.GGUFWriter], None] = lambda writer: None,
    vocab: int = VOCAB,
    tokens: Sequence[str] = (),
) -> None:
    """A tiny llama whose matrices all have the given format; `change` adds to it."""
    rng = np.random.default_rng(3)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(128)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(vocab)
    writer.add_eos_token_id(2)

    def matrix(name: str, rows: int, width: int) -> None:
        if kind in (Kind.Q4_K, Kind.Q6_K):
            writer.add_tensor(name, random_blocks(kind, rows, width, rng), raw_dtype=kind)
            return
        values = (rng.normal(size=(rows, width)) * 0.08).astype(np.float32)
        writer.add_tensor(name, quantize(values, kind), raw_dtype=kind)

    def norm(name: str) -> None:
        writer.add_tensor(name, (1 + 0.1 * rng.normal(size=HIDDEN)).astype(np.float32))

    dim = HIDDEN // HEADS
    matrix("token_embd.weight", vocab, HIDDEN)
    matrix("output.weight", vocab, HIDDEN)
    norm("output_norm.weight")
    for i in range(LAYERS):
        norm(f"blk.{i}.attn_norm.weight")
        norm(f"blk.{i}.ffn_norm.weight")
        matrix(f"blk.{i}.attn_q.weight", HIDDEN, HIDDEN)
        matrix(f"blk.{i}.attn_k.weight", KV_HEADS * dim, HIDDEN)
        matrix(f"blk.{i}.attn_v.weight", KV_HEADS * dim, HIDDEN)
        matrix(f"blk.{i}.attn_output.weight", HIDDEN, HIDDEN)
        matrix(f"blk.{i}.ffn_gate.weight", INNER, HIDDEN)
        matrix(f"blk.{i}.ffn_up.weight", INNER, HIDDEN)
        matrix(f"blk.{i}.ffn_down.weight", HIDDEN, INNER)
    writer.add_token_list(tokens or [f"t{i}" for i in range(vocab)])
    change(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize(
    "kind",
    [Kind.F32, Kind.F16, Kind.BF16, Kind.Q8_0, Kind.Q4_0, Kind.Q4_1, Kind.Q4_K, Kind.Q6_K],
    ids=lambda kind: kind.name,
)
def test_same_greedy_tokens_as_transformers(kind, tmp_path):
    path = tmp_path / "tiny.gguf"
    write_model(path, kind)
    reference = AutoModelForCausalLM.from_pretrained(
        str(tmp_path), gguf_file=path.name, dtype=torch.float32
    ).eval()
    driver = make_driver(path)
    answer = driver.generate(PROMPT, greedy(max_tokens=10, ignore_eos=True))
    assert len(set(answer)) > 1
    assert answer == reference_answer(reference, PROMPT, 10)


def test_file_of_another_format_is_refused(tmp_path):
    path = tmp_path / "no.gguf"
    path.write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(ModelLoadError, match="not a GGUF file"):
        GGUFFile(path)


def test_truncated_file_is_refused(tmp_path):
    path = tmp_path / "tiny.gguf"
    write_model(path, Kind.Q8_0)
    whole = path.read_bytes()
    for length in (10, 300, len(whole) // 2):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelLoadError, match="damaged"):
            GGUFFile(path)


def add_llama3_divisors(writer: gguf.GGUFWriter) -> None:
    parameters = {"rope_theta": 10000.0, "rope_type": "llama3", **LLAMA3}
    config = LlamaConfig(
        hidden_size=HIDDEN,
        num_attention_heads=HEADS,
        rope_parameters=parameters,
        max_position_embeddings=128,
    )
    slowed, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
    dim = HIDDEN // HEADS
    plain = 10000.0 ** -(torch.arange(0, dim, 2) / dim)
    writer.add_tensor("rope_freqs.weight", (plain / slowed).numpy().astype(np.float32))


LLAMA3 = {
    "factor": 4.0,
    "original_max_position_embeddings": 32,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}


def add_yarn(writer: gguf.GGUFWriter) -> None:
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(4.0)
    writer.add_rope_scaling_orig_ctx_len(32)


@pytest.mark.parametrize(
    ("change", "parameters"),
    [
        (add_llama3_divisors, {"rope_type": "llama3", **LLAMA3}),
        (
            add_yarn,
            {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
        ),
    ],
    ids=["llama3", "yarn"],
)
def test_scaled_rotation_gives_the_tokens_of_transformers(change, parameters, tmp_path):
    """transformers is told what the file says: it does not read it itself."""
    path = tmp_path / "tiny.gguf"
    write_model(path, Kind.F32, change)
    write_model(tmp_path / "plain.gguf", Kind.F32)
    config = AutoConfig.from_pretrained(str(tmp_path), gguf_file="plain.gguf")
    config.rope_parameters = {"rope_theta": 10000.0, **parameters}
    reference = AutoModelForCausalLM.from_pretrained(
        str(tmp_path), gguf_file="plain.gguf", config=config, dtype=torch.float32
    ).eval()
    prompt = PROMPT + PROMPT[5:25]  # longer than the original context
    answer = make_driver(path).generate(prompt, greedy(max_tokens=10, ignore_eos=True))
    assert answer == reference_answer(reference, prompt, 10)
    write_model(tmp_path / "unscaled.gguf", Kind.F32)
    unscaled = make_driver(tmp_path / "unscaled.gguf")
    assert answer != unscaled.generate(prompt, greedy(max_tokens=10, ignore_eos=True))
