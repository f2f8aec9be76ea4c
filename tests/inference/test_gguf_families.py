"""Families whose GGUF files differ from their folders: what llama.cpp's converter would make of a
random model, by the names of the `gguf` package, gives what transformers gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf.constants import MODEL_ARCH, MODEL_ARCH_NAMES
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from inference.errors import ModelLoadError
from inference.model.files.gguf_file import GGUFReader
from inference.model.files.hf_folder import HFReader
from tests.inference.conftest import greedy, make_driver
from tests.inference.test_families import PROMPTS, make_folder, reference_answer
from tests.inference.test_gguf_experts import in_llama_cpp_order

Add = Callable[[gguf.GGUFWriter, transformers.PreTrainedConfig], None]
Convert = Callable[
    [str, np.ndarray, transformers.PreTrainedConfig], Iterator[tuple[str, np.ndarray]]
]


def _gemma2(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    writer.add_sliding_window(config.sliding_window)
    writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
    writer.add_final_logit_softcapping(config.final_logit_softcapping)


def _gemma3(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    writer.add_sliding_window(config.sliding_window)
    writer.add_rope_freq_base(config.rope_parameters["full_attention"]["rope_theta"])


def _granite(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    writer.add_embedding_scale(config.embedding_multiplier)
    writer.add_attention_scale(config.attention_multiplier)
    writer.add_residual_scale(config.residual_multiplier)
    writer.add_logit_scale(config.logits_scaling)


def _phi3(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    rope = config.rope_parameters
    dims = int(config.hidden_size // config.num_attention_heads * rope["partial_rotary_factor"])
    writer.add_rope_dimension_count(dims)
    if config.sliding_window:
        writer.add_sliding_window(config.sliding_window)
    for which in ("long", "short"):
        if f"{which}_factor" in rope:
            factors = np.array(rope[f"{which}_factor"], np.float32)
            writer.add_tensor(f"rope_factors_{which}.weight", factors)
            original = rope["original_max_position_embeddings"]
            writer.add_rope_scaling_orig_ctx_len(original)


def _falcon_h1(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    writer.add_ssm_conv_kernel(config.mamba_d_conv)
    writer.add_ssm_inner_size(config.mamba_d_ssm)
    writer.add_ssm_state_size(config.mamba_d_state)
    writer.add_ssm_time_step_rank(config.mamba_n_heads)
    writer.add_ssm_group_count(config.mamba_n_groups)


def _llama4(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    writer.add_expert_count(config.num_local_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    writer.add_expert_feed_forward_length(config.intermediate_size)
    writer.add_interleave_moe_layer_step(config.interleave_moe_layer_step)
    rope = config.rope_parameters
    if rope["rope_type"] == "llama3":
        scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
        plain = rope["rope_theta"] ** -(torch.arange(0, config.head_dim, 2) / config.head_dim)
        writer.add_tensor("rope_freqs.weight", (plain / scaled).numpy())


def _nothing(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    """Its sizes are all there is to say."""


def _with_factors(
    name: str, values: np.ndarray, config: transformers.PreTrainedConfig
) -> Iterator[tuple[str, np.ndarray]]:
    """A Falcon-H1 with its factors in the matrices, and a Mamba's parts in GGUF's shapes."""
    gate, out = config.mlp_multipliers
    of_groups = config.mamba_n_groups * config.mamba_d_state
    widths = [*[config.mamba_d_ssm] * 2, *[of_groups] * 2, config.mamba_n_heads]
    columns = np.repeat(np.array(config.ssm_multipliers, np.float32), widths)
    factors = {
        "embed_tokens": config.embedding_multiplier,
        "lm_head": config.lm_head_multiplier,
        "gate_proj": gate,
        "down_proj": out,
        "q_proj": config.attention_in_multiplier,
        "k_proj": config.attention_in_multiplier * config.key_multiplier,
        "v_proj": config.attention_in_multiplier,
        "o_proj": config.attention_out_multiplier,
        "out_proj": config.ssm_out_multiplier,
        "in_proj": columns[:, None] * config.ssm_in_multiplier,
    }
    values = values * factors.get(name.split(".")[-2], 1.0)
    if name.endswith("A_log"):
        values = -np.exp(values)[:, None]
    if name.endswith("mamba.D"):
        values = values[:, None]
    if name.endswith("mamba.norm.weight"):
        values = values.reshape(config.mamba_n_groups, -1)
    if name.endswith("conv1d.weight"):
        values = values.squeeze(1)
    yield name.replace(".dt_bias", ".dt_proj.bias"), values.astype(np.float32)


def _experts_apart(
    name: str, values: np.ndarray, config: transformers.PreTrainedConfig
) -> Iterator[tuple[str, np.ndarray]]:
    """A Llama 4 with the experts' gates and ups in tensors of their own, each (out, in)."""
    if name.endswith("experts.gate_up_proj"):
        halves = np.split(values.swapaxes(1, 2), 2, axis=1)
        for part, half in zip(("gate_proj", "up_proj"), halves, strict=True):
            yield name.replace("gate_up_proj", f"{part}.weight"), half
    elif name.endswith("experts.down_proj"):
        yield f"{name}.weight", values.swapaxes(1, 2)
    else:
        yield name, values


def _unchanged(
    name: str, values: np.ndarray, config: transformers.PreTrainedConfig
) -> Iterator[tuple[str, np.ndarray]]:
    yield name, values


CONVERTED: dict[MODEL_ARCH, Convert] = {
    MODEL_ARCH.FALCON_H1: _with_factors,
    MODEL_ARCH.LLAMA4: _experts_apart,
}
PAIRED = (MODEL_ARCH.GRANITE, MODEL_ARCH.SMOLLM3)
"""Whose queries and keys a file has in the order of llama.cpp's rotation."""
FILES: dict[str, tuple[MODEL_ARCH, Add]] = {
    "falcon-h1": (MODEL_ARCH.FALCON_H1, _falcon_h1),
    "falcon-h1-norm": (MODEL_ARCH.FALCON_H1, _falcon_h1),
    "gemma2": (MODEL_ARCH.GEMMA2, _gemma2),
    "gemma3": (MODEL_ARCH.GEMMA3, _gemma3),
    "granite": (MODEL_ARCH.GRANITE, _granite),
    "llama4": (MODEL_ARCH.LLAMA4, _llama4),
    "llama4-mixed": (MODEL_ARCH.LLAMA4, _llama4),
    "olmo2": (MODEL_ARCH.OLMO2, _nothing),
    "phi3": (MODEL_ARCH.PHI3, _phi3),
    "phi3-part": (MODEL_ARCH.PHI3, _phi3),
    "phi3-long": (MODEL_ARCH.PHI3, _phi3),
    "smollm3": (MODEL_ARCH.SMOLLM3, _nothing),
}
"""By the names of `test_families.py`: GGUF's architecture, and what it says besides sizes."""
LLAMA4: dict[str, Any] = {
    "num_hidden_layers": 5,
    "no_rope_layers": None,
    "attention_chunk_size": 8192,
    "attn_temperature_tuning": True,
    "floor_scale": 8192,
    "attn_scale": 0.1,
}
"""What a file does not say of a Llama 4, because all published models have it so."""
SHAPES: dict[str, dict[str, Any]] = {
    "llama4": LLAMA4,
    # So many experts are Maverick's, whose queries and keys are not normed.
    "llama4-mixed": LLAMA4 | {"num_local_experts": 128, "intermediate_size": 32},
    # A file says neither biases nor limits.
    "falcon-h1-norm": {
        "mamba_proj_bias": False,
        "projectors_bias": False,
        "time_step_limit": (0.0, float("inf")),
    },
    # A file says neither: the pattern and the scale are those of all published models.
    "gemma2": {"query_pre_attn_scalar": 32},
    "gemma3": {"query_pre_attn_scalar": 32, "sliding_window_pattern": 6, "num_hidden_layers": 7},
    # A file does not say which layers do not rotate.
    "smollm3": {"no_rope_layer_interval": 4, "num_hidden_layers": 5},
}


def write_file(
    path: Path,
    arch: MODEL_ARCH,
    model: transformers.PreTrainedModel,
    add: Add,
    convert: Convert = _unchanged,
) -> None:
    """The model in float32; `convert` gives what becomes of a tensor, by names of folders."""
    config = model.config
    writer = gguf.GGUFWriter(path, MODEL_ARCH_NAMES[arch])
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    inner = getattr(config, "intermediate_size_mlp", config.intermediate_size)
    writer.add_feed_forward_length(inner)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if head_dim := getattr(config, "head_dim", None):
        writer.add_key_length(head_dim)
    if theta := config.rope_parameters.get("rope_theta"):
        writer.add_rope_freq_base(theta)
    writer.add_token_list([f"t{i}" for i in range(config.vocab_size)])
    writer.add_eos_token_id(config.eos_token_id)
    add(writer, config)
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = tensor.numpy()
        if arch in (MODEL_ARCH.GEMMA2, MODEL_ARCH.GEMMA3) and name.endswith("norm.weight"):
            values = values + 1
        if arch in PAIRED and "q_proj" in name:
            values = in_llama_cpp_order(values, config.num_attention_heads)
        if arch in PAIRED and "k_proj" in name:
            values = in_llama_cpp_order(values, config.num_key_value_heads)
        for converted, part in convert(name, values, config):
            theirs = names.get_name(converted, try_suffixes=(".weight", ".bias"))
            assert theirs is not None, converted
            writer.add_tensor(theirs, np.ascontiguousarray(part))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("family", FILES)
def test_file_of_a_family_gives_the_same_tokens_as_transformers(family, tmp_path):
    arch, add = FILES[family]
    model = make_folder(family, tmp_path / "folder", **SHAPES.get(family, {}))
    path = tmp_path / "model.gguf"
    with torch.inference_mode():
        write_file(path, arch, model, add, CONVERTED.get(arch, _unchanged))
    driver = make_driver(path, max_num_batched_tokens=23, mixed_step_tokens=11)
    ids = [driver.add(p, greedy(max_tokens=12, ignore_eos=True)) for p in PROMPTS]
    tokens = driver.run()
    for i, prompt in zip(ids, PROMPTS, strict=True):
        assert tokens[i] == reference_answer(model, prompt, 12, tokens[i])


@pytest.mark.parametrize("family", ["llama4", "llama4-mixed"])
def test_llama4_file_means_the_layers_that_its_folder_names(family, tmp_path):
    model = make_folder(family, tmp_path / "folder", **SHAPES[family])
    path = tmp_path / "model.gguf"
    write_file(path, MODEL_ARCH.LLAMA4, model, _llama4, _experts_apart)
    folder, file = HFReader(tmp_path / "folder").config, GGUFReader(path).config
    # A file has divisors where a folder has the rule that they come from, and float32.
    assert replace(file, rope=folder.rope, rms_eps=folder.rms_eps) == folder


def test_llama4_file_without_chunks_is_refused(tmp_path):
    def whole(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
        _llama4(writer, config)
        writer.add_sliding_window(0)

    model = make_folder("llama4", tmp_path / "folder", **LLAMA4)
    write_file(tmp_path / "model.gguf", MODEL_ARCH.LLAMA4, model, whole, _experts_apart)
    with pytest.raises(ModelLoadError, match="other layers than the published ones"):
        GGUFReader(tmp_path / "model.gguf")
