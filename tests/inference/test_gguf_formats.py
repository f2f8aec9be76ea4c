"""Every GGUF weight format that we read, against transformers reading the same file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind
from transformers import AutoConfig, AutoModelForCausalLM, LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from inference.errors import ModelLoadError
from inference.model.build import build_model
from inference.model.files.open import open_weights
from inference.model.gguf_format import GGUFFile
from tests.inference.blocks import PACKED_KINDS, random_rows
from tests.inference.conftest import greedy
from tests.inference.test_families import make_driver, reference_answer

HIDDEN, INNER, HEADS, KV_HEADS, LAYERS, VOCAB = 256, 512, 4, 2, 2, 96
PROMPT = [(5 * i * i + 3) % 90 + 3 for i in range(30)]


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
        writer.add_tensor(name, random_rows(kind, rows, width, rng, 0.08), raw_dtype=kind)

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
    [Kind.F32, Kind.F16, Kind.BF16, *PACKED_KINDS],
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
    assert answer == reference_answer(reference, PROMPT, 10, answer)


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


def test_changed_headers_are_read_or_refused(tmp_path):
    """Any byte of the header may be any other: what makes no model is said to, and nothing else is
    raised."""
    path = tmp_path / "tiny.gguf"
    write_model(path, Kind.Q8_0)
    whole = path.read_bytes()
    header = whole.index(b"blk.1.ffn_down.weight") + 60
    random = np.random.default_rng(1)
    refused = 0
    for _ in range(150):
        changed = bytearray(whole)
        for at in random.integers(0, header, random.integers(1, 4)):
            changed[at] = random.choice((0, 1, 128, 255))
        path.write_bytes(changed)
        try:
            open_weights(str(path))
        except ModelLoadError:
            refused += 1
    assert 40 < refused < 150


def swap_sizes(path: Path, name: str) -> None:
    """Write rows for columns in the tensor's head: as many numbers as before."""
    whole = bytearray(path.read_bytes())
    at = whole.index(name.encode()) + len(name) + 4
    whole[at : at + 8], whole[at + 8 : at + 16] = whole[at + 8 : at + 16], whole[at : at + 8]
    path.write_bytes(whole)


@pytest.mark.parametrize("tensor", ["ffn_down", "ffn_up", "attn_k", "attn_output"])
@pytest.mark.parametrize("kind", [Kind.Q8_0, Kind.Q4_0])
def test_matrices_that_do_not_fit_one_another_are_refused(tensor, kind, tmp_path):
    """Kernels believe the sizes that they are told: they must never be told these."""
    path = tmp_path / "tiny.gguf"
    write_model(path, kind)
    swap_sizes(path, f"blk.1.{tensor}.weight")
    if tensor == "attn_output":  # square: as before
        build_model(open_weights(str(path)), torch.float32, torch.device("cpu"))
        return
    with pytest.raises(ModelLoadError, match=r"columns|fit one another"):
        build_model(open_weights(str(path)), torch.float32, torch.device("cpu"))


def test_rows_that_are_no_whole_blocks_are_refused(tmp_path):
    path = tmp_path / "tiny.gguf"
    write_model(path, Kind.Q8_0)
    whole = bytearray(path.read_bytes())
    at = whole.index(b"output.weight") + len("output.weight") + 4
    whole[at : at + 8] = (HIDDEN - 1).to_bytes(8, "little")
    path.write_bytes(whole)
    with pytest.raises(ModelLoadError, match="rows of 255 values, Q8_0 blocks of 32"):
        open_weights(str(path))


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
    assert answer == reference_answer(reference, prompt, 10, answer)
    write_model(tmp_path / "unscaled.gguf", Kind.F32)
    unscaled = make_driver(tmp_path / "unscaled.gguf")
    assert answer != unscaled.generate(prompt, greedy(max_tokens=10, ignore_eos=True))
