"""Mixtures of experts in a GGUF file give what transformers gives with the same weights."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize, quantize
from safetensors.torch import load_file, save_file

from inference.errors import ModelLoadError
from inference.model.config import ModelConfig
from inference.model.files.gguf_file import GGUFReader
from inference.model.files.hf_folder import HFReader
from tests.inference.conftest import greedy
from tests.inference.test_families import PROMPTS, make_driver, make_folder, reference_answer

FAMILIES = {"mixtral": "llama", "qwen2-moe": "qwen2moe", "qwen3-moe": "qwen3moe"}
"""The same name in `test_families.py`, and GGUF's architecture."""


def fits(name: str, tensor: torch.Tensor) -> bool:
    """Whether this file quantizes this matrix: not norms, routers and what all tokens go to."""
    kept = "shared_expert" in name or name.endswith(".gate.weight")
    return not kept and tensor.ndim == 2 and tensor.shape[1] % 32 == 0


def quantize_folder(folder: Path, kind: Kind) -> transformers.PreTrainedModel:
    """Replace the folder's matrices by what is left of them after `kind`."""
    for file in folder.glob("*.safetensors"):
        tensors = load_file(file)
        for name, tensor in tensors.items():
            if fits(name, tensor):
                tensors[name] = torch.from_numpy(dequantize(quantize(tensor.numpy(), kind), kind))
        save_file(tensors, file, metadata={"format": "pt"})
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert isinstance(model, transformers.PreTrainedModel)
    return model.eval()


def in_llama_cpp_order(rows: np.ndarray, num_heads: int) -> np.ndarray:
    """Query and key rows of a `llama` as its converter writes them: pairs side by side."""
    halves = rows.reshape(num_heads, 2, -1, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def write_mixture(
    path: Path, architecture: str, folder: HFReader, kind: Kind, scale: float = 1.0
) -> None:
    """What llama.cpp's converter makes of the folder, by the specification's names."""
    config, moe = folder.config, folder.config.moe
    assert moe is not None
    writer = gguf.GGUFWriter(path, architecture)
    write_sizes(writer, config)
    writer.add_expert_count(moe.num_experts)
    writer.add_expert_used_count(moe.per_token)
    if architecture != "llama":
        writer.add_expert_feed_forward_length(config.intermediate_size)
    if scale != 1.0:
        writer.add_expert_weights_scale(scale)

    def add(name: str, values: np.ndarray, *, is_matrix: bool = True) -> None:
        packs = is_matrix and values.shape[-1] % 32 == 0
        used = kind if packs else Kind.F32
        data = quantize(np.ascontiguousarray(values), used) if packs else values
        writer.add_tensor(f"{name}.weight", data, raw_dtype=used)

    def read(name: str) -> np.ndarray:
        return folder.read(name).numpy()

    add("token_embd", read("embed"))
    add("output", read("lm_head"))
    add("output_norm", read("norm"), is_matrix=False)
    for i in range(config.num_layers):
        ours, theirs = f"layers.{i}", f"blk.{i}"
        add(f"{theirs}.attn_norm", read(f"{ours}.attn_norm"), is_matrix=False)
        add(f"{theirs}.ffn_norm", read(f"{ours}.mlp_norm"), is_matrix=False)
        add(f"{theirs}.ffn_gate_inp", read(f"{ours}.router"), is_matrix=False)
        for which, heads in (("q", config.num_heads), ("k", config.num_kv_heads)):
            rows = read(f"{ours}.attn.{which}")
            turned = in_llama_cpp_order(rows, heads) if architecture == "llama" else rows
            add(f"{theirs}.attn_{which}", turned)
            if architecture == "qwen3moe":
                norm = read(f"{ours}.attn.{which}_norm")
                add(f"{theirs}.attn_{which}_norm", norm, is_matrix=False)
        if architecture == "qwen2moe":
            add_shared(writer, folder, i)
        add(f"{theirs}.attn_v", read(f"{ours}.attn.v"))
        add(f"{theirs}.attn_output", read(f"{ours}.attn.o"))
        for which in ("gate", "up", "down"):
            experts = [read(f"{ours}.experts.{e}.{which}") for e in range(moe.num_experts)]
            add(f"{theirs}.ffn_{which}_exps", np.stack(experts))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_shared(writer: gguf.GGUFWriter, folder: HFReader, layer: int) -> None:
    """The expert that every token goes to, and the biases of Qwen2's attention, in float32."""
    names = {f"attn.{which}:bias": f"attn_{which}.bias" for which in "qkv"}
    names |= {f"shared.{which}": f"ffn_{which}_shexp.weight" for which in ("gate", "up", "down")}
    for ours, theirs in names.items():
        writer.add_tensor(f"blk.{layer}.{theirs}", folder.read(f"layers.{layer}.{ours}").numpy())
    weigh = folder.read(f"layers.{layer}.shared.weigh").numpy().reshape(-1)
    writer.add_tensor(f"blk.{layer}.ffn_gate_inp_shexp.weight", weigh)


def write_sizes(writer: gguf.GGUFWriter, config: ModelConfig) -> None:
    writer.add_context_length(config.max_position)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_layers)
    writer.add_head_count(config.num_heads)
    writer.add_head_count_kv(config.num_kv_heads)
    writer.add_key_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_eps)
    writer.add_rope_freq_base(config.rope.theta)
    writer.add_eos_token_id(2)


@pytest.mark.parametrize("kind", [Kind.F32, Kind.Q8_0, Kind.Q4_1], ids=lambda kind: kind.name)
@pytest.mark.parametrize("family", FAMILIES)
def test_same_greedy_tokens_as_transformers(family, kind, tmp_path):
    make_folder(family, tmp_path, sliding_window=None)
    reference = quantize_folder(tmp_path, kind)
    path = tmp_path / "mixture.gguf"
    write_mixture(path, FAMILIES[family], HFReader(tmp_path), kind)
    driver = make_driver(path, max_num_batched_tokens=23, mixed_step_tokens=11)
    ids = [driver.add(p, greedy(max_tokens=12, ignore_eos=True)) for p in PROMPTS]
    tokens = driver.run()
    answers = [tokens[i] for i in ids]
    for answer, prompt in zip(answers, PROMPTS, strict=True):
        assert answer == reference_answer(reference, prompt, 12, answer)
    assert len({*answers[0]}) > 2


@pytest.mark.parametrize("family", FAMILIES)
def test_every_tensor_equals_that_of_the_folder(family, tmp_path):
    make_folder(family, tmp_path, sliding_window=None)
    folder, path = HFReader(tmp_path), tmp_path / "mixture.gguf"
    write_mixture(path, FAMILIES[family], folder, Kind.F32)
    file = GGUFReader(path)
    assert file.config.moe == folder.config.moe
    assert file.config.intermediate_size == folder.config.intermediate_size
    parts = ["router", "attn.q", *(f"experts.{e}.{w}" for e in (0, 5) for w in ("gate", "down"))]
    for name in (f"layers.{i}.{part}" for i in range(3) for part in parts):
        assert torch.equal(file.read(name), folder.read(name)), name


def test_unknown_expert_weighting_is_refused(tmp_path):
    make_folder("qwen3-moe", tmp_path)
    path = tmp_path / "mixture.gguf"
    write_mixture(path, "qwen3moe", HFReader(tmp_path), Kind.F32, scale=2.5)
    with pytest.raises(ModelLoadError, match=r"expert_weights_scale 2\.5"):
        GGUFReader(path)
