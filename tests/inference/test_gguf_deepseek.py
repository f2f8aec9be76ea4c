"""DeepSeek V2 and V3 from GGUF give transformers' tokens, with the heads' keys and values in one
matrix as older files have them, and apart as newer ones do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf.constants import MODEL_ARCH, ExpertGatingFuncType, RopeScalingType
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize, quantize

from inference.errors import ModelLoadError
from inference.model.architectures.deepseek import DeepseekConfig
from inference.model.files.gguf_file import GGUFReader
from inference.model.files.hf_folder import HFReader
from tests.inference.conftest import greedy, make_driver
from tests.inference.test_families import PLAIN_ROPE, PROMPTS, ROPE, make_folder, reference_answer
from tests.inference.test_gguf_families import write_file

GATINGS = {
    "deepseek_v2": ExpertGatingFuncType.SOFTMAX,
    "deepseek_v3": ExpertGatingFuncType.SIGMOID,
}
# A file has one mscale for angles and scores, as all published models do.
YARN: dict[str, Any] = ROPE | {"rope_type": "yarn", "mscale": 0.7, "mscale_all_dim": 0.7}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "v2": ("deepseek-v2", {"rope_parameters": YARN}),
    "v2-lite": (
        "deepseek-v2",
        {"topk_method": "greedy", "n_group": 1, "topk_group": 1, "rope_parameters": PLAIN_ROPE},
    ),
    "v3": ("deepseek-v3", {"rope_parameters": YARN, "first_k_dense_replace": 2}),
    "v3-low-rank-queries-left-out": ("deepseek-v3", {"q_lora_rank": None}),
    "v3-in-blocks": ("deepseek-v3", {"kv_lora_rank": 32, "qk_nope_head_dim": 32}),
}


def add_sizes(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    """What a file with keys and values in one matrix says."""
    key = config.qk_nope_head_dim + config.qk_rope_head_dim
    writer.add_key_length(key)
    writer.add_value_length(config.v_head_dim)
    writer.add_kv_lora_rank(config.kv_lora_rank)
    if config.q_lora_rank:
        writer.add_q_lora_rank(config.q_lora_rank)
    writer.add_rope_dimension_count(config.qk_rope_head_dim)
    writer.add_leading_dense_block_count(config.first_k_dense_replace)
    writer.add_expert_count(config.n_routed_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    writer.add_expert_shared_count(config.n_shared_experts)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    writer.add_expert_gating_func(GATINGS[config.model_type])
    if config.model_type == "deepseek_v3":
        writer.add_expert_weights_norm(config.norm_topk_prob)
    if config.n_group > 1:
        writer.add_expert_group_count(config.n_group)
        writer.add_expert_group_used_count(config.topk_group)
    rope = config.rope_parameters
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_type(RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        writer.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])


def add_sizes_apart(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
    """What a file with keys and values apart says: sizes of the cache, and those of heads."""
    add_sizes(writer, config)
    writer.add_head_count_kv(1)
    writer.add_key_length(config.kv_lora_rank + config.qk_rope_head_dim)
    writer.add_value_length(config.kv_lora_rank)
    writer.add_key_length_mla(config.qk_nope_head_dim + config.qk_rope_head_dim)
    writer.add_value_length_mla(config.v_head_dim)


def whole(
    name: str, values: np.ndarray, config: transformers.PreTrainedConfig
) -> Iterator[tuple[str, np.ndarray]]:
    if name.endswith("experts.gate_up_proj"):
        for part, half in zip(("gate", "up"), np.split(values, 2, axis=1), strict=True):
            yield name.replace("gate_up_proj", f"{part}_proj.weight"), half
    elif name.endswith("experts.down_proj"):
        yield f"{name}.weight", values
    else:
        yield name.replace("e_score_correction_bias", "e_score_correction.bias"), values


def apart(
    name: str, values: np.ndarray, config: transformers.PreTrainedConfig
) -> Iterator[tuple[str, np.ndarray]]:
    if "kv_b_proj" not in name:
        yield from whole(name, values, config)
        return
    heads = values.reshape(config.num_attention_heads, -1, config.kv_lora_rank)
    keys, of_values = np.split(heads, [config.qk_nope_head_dim], axis=1)
    yield name.replace("kv_b_proj", "k_b_proj"), keys.swapaxes(1, 2)
    yield name.replace("kv_b_proj", "v_b_proj"), of_values


LAYOUTS = {"whole": (add_sizes, whole), "apart": (add_sizes_apart, apart)}


def write(folder: Path, family: str, layout: str) -> tuple[Path, transformers.PreTrainedModel]:
    """The GGUF file beside the folder that it says the same as, and the model of both."""
    name, changes = FAMILIES[family]
    model = make_folder(name, folder / "folder", **changes)
    path = folder / "model.gguf"
    add, convert = LAYOUTS[layout]
    with torch.inference_mode():
        write_file(path, MODEL_ARCH.DEEPSEEK2, model, add, convert)
    return path, model


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_file_of_deepseek_gives_the_same_tokens_as_transformers(family, layout, tmp_path):
    path, model = write(tmp_path, family, layout)
    driver = make_driver(path, max_num_batched_tokens=23, mixed_step_tokens=11)
    ids = [driver.add(p, greedy(max_tokens=12, ignore_eos=True)) for p in PROMPTS]
    tokens = driver.run()
    for i, prompt in zip(ids, PROMPTS, strict=True):
        assert tokens[i] == reference_answer(model, prompt, 12, tokens[i])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_file_of_deepseek_says_what_its_folder_says(family, layout, tmp_path):
    path, _ = write(tmp_path, family, layout)
    folder, file = HFReader(tmp_path / "folder").config, GGUFReader(path).config
    assert isinstance(folder, DeepseekConfig) and isinstance(file, DeepseekConfig)
    assert folder.moe is not None and file.moe is not None
    assert file.rope.attention_factor == folder.rope.attention_factor
    assert file.score_scale == pytest.approx(folder.score_scale)
    assert file.moe.scale == pytest.approx(folder.moe.scale)
    assert replace(file.moe, scale=folder.moe.scale) == folder.moe
    # In a file these are float32.
    near: dict[str, Any] = {name: getattr(folder, name) for name in ("rms_eps", "score_scale")}
    assert replace(file, moe=folder.moe, rope=folder.rope, **near) == folder


def rewritten(file: Path, path: Path, *, packed: bool) -> Path:
    """The file with its matrices in Q8_0, or in float32 with the numbers that are left then."""
    reader = gguf.GGUFReader(file)
    writer = gguf.GGUFWriter(path, "deepseek2")
    for field in reader.fields.values():
        if field.name.startswith(("deepseek2.", "tokenizer.")):
            kind, *of_items = field.types
            sub_type = of_items[0] if of_items else None
            writer.add_key_value(field.name, field.contents(), kind, sub_type)
    for tensor in reader.tensors:
        values = tensor.data
        fits = values.ndim > 1 and values.shape[-1] % 32 == 0 and "gate_inp" not in tensor.name
        if not fits:
            writer.add_tensor(tensor.name, values)
            continue
        blocks = quantize(values, Kind.Q8_0)
        if packed:
            writer.add_tensor(tensor.name, blocks, raw_dtype=Kind.Q8_0)
        else:
            writer.add_tensor(tensor.name, dequantize(blocks, Kind.Q8_0))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("layout", LAYOUTS)
def test_quantized_file_of_deepseek_gives_the_tokens_of_its_rounded_numbers(layout, tmp_path):
    path, _ = write(tmp_path, "v3-in-blocks", layout)
    answers = []
    for packed in (True, False):
        driver = make_driver(rewritten(path, tmp_path / f"{packed}.gguf", packed=packed))
        ids = [driver.add(p, greedy(max_tokens=12, ignore_eos=True)) for p in PROMPTS]
        tokens = driver.run()
        answers.append([tokens[i] for i in ids])
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"expert_gating_func": 3}, "gating 3"),
        ({"attention.temperature_scale": 1}, "attention.temperature_scale"),
    ],
)
def test_file_of_deepseek_that_is_routed_or_scaled_otherwise_is_refused(change, reason, tmp_path):
    def add(writer: gguf.GGUFWriter, config: transformers.PreTrainedConfig) -> None:
        add_sizes(writer, config)
        for key, value in change.items():
            writer.add_uint32(f"deepseek2.{key}", value)

    model = make_folder("deepseek-v3", tmp_path / "folder")
    write_file(tmp_path / "model.gguf", MODEL_ARCH.DEEPSEEK2, model, add, whole)
    with pytest.raises(ModelLoadError, match=reason):
        GGUFReader(tmp_path / "model.gguf")
