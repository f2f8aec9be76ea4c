"""Families whose GGUF files differ from their folders: what llama.cpp's converter would make of a
random model, by the names of the `gguf` package, gives what transformers gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf.constants import MODEL_ARCH, MODEL_ARCH_NAMES

from tests.inference.conftest import greedy, make_driver
from tests.inference.test_families import PROMPTS, make_folder, reference_answer
from tests.inference.test_gguf_experts import in_llama_cpp_order

Add = Callable[[gguf.GGUFWriter, transformers.PreTrainedConfig], None]
Convert = Callable[[str, np.ndarray, transformers.PreTrainedConfig], tuple[str, np.ndarray]]


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


def _nothing(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    """Its sizes are all there is to say."""


def _with_factors(
    name: str, values: np.ndarray, config: transformers.PreTrainedConfig
) -> tuple[str, np.ndarray]:
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
    return name.replace(".dt_bias", ".dt_proj.bias"), values.astype(np.float32)


CONVERTED: dict[MODEL_ARCH, Convert] = {MODEL_ARCH.FALCON_H1: _with_factors}
FILES: dict[str, tuple[MODEL_ARCH, Add]] = {
    "falcon-h1": (MODEL_ARCH.FALCON_H1, _falcon_h1),
    "falcon-h1-norm": (MODEL_ARCH.FALCON_H1, _falcon_h1),
    "gemma2": (MODEL_ARCH.GEMMA2, _gemma2),
    "gemma3": (MODEL_ARCH.GEMMA3, _gemma3),
    "granite": (MODEL_ARCH.GRANITE, _granite),
    "olmo2": (MODEL_ARCH.OLMO2, _nothing),
    "phi3": (MODEL_ARCH.PHI3, _phi3),
    "phi3-part": (MODEL_ARCH.PHI3, _phi3),
    "phi3-long": (MODEL_ARCH.PHI3, _phi3),
}
"""By the names of `test_families.py`: GGUF's architecture, and what it says besides sizes."""
SHAPES: dict[str, dict[str, Any]] = {
    # A file says neither biases nor limits.
    "falcon-h1-norm": {
        "mamba_proj_bias": False,
        "projectors_bias": False,
        "time_step_limit": (0.0, float("inf")),
    },
    # A file says neither: the pattern and the scale are those of all published models.
    "gemma2": {"query_pre_attn_scalar": 32},
    "gemma3": {"query_pre_attn_scalar": 32, "sliding_window_pattern": 6, "num_hidden_layers": 7},
}


def write_file(path: Path, arch: MODEL_ARCH, model: transformers.PreTrainedModel, add: Add) -> None:
    """The model in float32."""
    config = model.config
    writer = gguf.GGUFWriter(path, MODEL_ARCH_NAMES[arch])
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
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
        if arch is MODEL_ARCH.GRANITE and "q_proj" in name:
            values = in_llama_cpp_order(values, config.num_attention_heads)
        if arch is MODEL_ARCH.GRANITE and "k_proj" in name:
            values = in_llama_cpp_order(values, config.num_key_value_heads)
        if arch in CONVERTED:
            name, values = CONVERTED[arch](name, values, config)
        theirs = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert theirs is not None, name
        writer.add_tensor(theirs, np.ascontiguousarray(values))
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
        write_file(path, arch, model, add)
    driver = make_driver(path, max_num_batched_tokens=23, mixed_step_tokens=11)
    ids = [driver.add(p, greedy(max_tokens=12, ignore_eos=True)) for p in PROMPTS]
    tokens = driver.run()
    assert [tokens[i] for i in ids] == [reference_answer(model, p, 12) for p in PROMPTS]
