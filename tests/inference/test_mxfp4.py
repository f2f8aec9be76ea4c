"""gpt-oss with its experts in MXFP4, from a folder and from GGUF, against transformers with the
same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf.constants import MODEL_ARCH
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize, quantize
from safetensors.torch import load_file, save_file
from torch import Tensor

from inference.errors import ModelLoadError
from inference.quantization import mxfp4
from inference.quantization.packed import PackedRows
from tests.inference.conftest import greedy, make_driver
from tests.inference.test_families import PROMPTS, make_folder, reference_answer

MATRICES = ("gate_up_proj", "down_proj")
BLOCK = 32


def packed(matrix: Tensor) -> np.ndarray:
    """(..., in, out) as GGUF's MXFP4, (..., out, bytes of a row)."""
    return quantize(np.ascontiguousarray(matrix.mT.numpy()), Kind.MXFP4)


def with_rounded_experts(folder: Path) -> transformers.PreTrainedModel:
    """A model whose experts' matrices are numbers that MXFP4 has."""
    model = make_folder("gpt-oss", folder, "1GB", intermediate_size=64)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(MATRICES):
                rounded = dequantize(packed(parameter), Kind.MXFP4)
                parameter.copy_(torch.from_numpy(rounded).mT)
    return model


def pack_folder(folder: Path, model: transformers.PreTrainedModel) -> None:
    """Replace the experts of the folder by blocks and scales, as OpenAI published them."""
    file = folder / "model.safetensors"
    tensors = load_file(file)
    for name, parameter in model.state_dict().items():
        if not name.endswith(MATRICES):
            continue
        del tensors[name]
        rows = packed(parameter)
        blocks = torch.from_numpy(rows.reshape(*rows.shape[:2], -1, 1 + BLOCK // 2))
        low_first = blocks[..., 1:]
        numbers = torch.cat((low_first & 15, low_first >> 4), dim=-1)
        tensors[f"{name}_blocks"] = numbers[..., 0::2] | (numbers[..., 1::2] << 4)
        tensors[f"{name}_scales"] = blocks[..., 0].contiguous()
    save_file(tensors, file, metadata={"format": "pt"})
    config = folder / "config.json"
    method = {"quantization_config": {"quant_method": "mxfp4"}}
    config.write_text(json.dumps(json.loads(config.read_text()) | method))


def write_gguf(path: Path, model: transformers.PreTrainedModel) -> None:
    """What llama.cpp's converter makes of gpt-oss."""
    config = model.config
    writer = gguf.GGUFWriter(path, "gpt-oss")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_expert_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_sliding_window(config.sliding_window)
    writer.add_expert_count(config.num_local_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(rope["factor"])
    writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    writer.add_eos_token_id(2)
    names = gguf.get_tensor_name_map(MODEL_ARCH.GPT_OSS, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        if ".experts." not in name:
            theirs = names.get_name(name, try_suffixes=(".weight", ".bias"))
            theirs = theirs if theirs and "." in theirs[-7:] else f"{theirs}.weight"
            writer.add_tensor(theirs, tensor.numpy())
            continue
        at = f"blk.{name.split('.')[2]}"
        kind = "bias" if name.endswith("_bias") else "weight"
        rows = tensor.numpy() if kind == "bias" else packed(tensor)
        if "gate_up" in name:
            parts = {"gate": rows[:, 0::2], "up": rows[:, 1::2]}
        else:
            parts = {"down": rows}
        for which, part in parts.items():
            raw = None if kind == "bias" else Kind.MXFP4
            whole = np.ascontiguousarray(part)
            writer.add_tensor(f"{at}.ffn_{which}_exps.{kind}", whole, raw_dtype=raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("form", ["folder", "gguf"])
def test_experts_in_mxfp4_give_the_same_tokens_as_transformers(form, tmp_path):
    model = with_rounded_experts(tmp_path)
    path = tmp_path
    with torch.inference_mode():
        if form == "gguf":
            path = tmp_path / "model.gguf"
            write_gguf(path, model)
        else:
            pack_folder(tmp_path, model)
    driver = make_driver(path, max_num_batched_tokens=23, mixed_step_tokens=11)
    ids = [driver.add(p, greedy(max_tokens=12, ignore_eos=True)) for p in PROMPTS]
    tokens = driver.run()
    for i, prompt in zip(ids, PROMPTS, strict=True):
        assert tokens[i] == reference_answer(model, prompt, 12, tokens[i])


def test_q8_0_holds_the_numbers_of_mxfp4():
    rng = np.random.default_rng(5)
    rows = quantize(rng.normal(size=(7, 96)).astype(np.float32), Kind.MXFP4)
    found = mxfp4.from_gguf(PackedRows(Kind.MXFP4, torch.from_numpy(rows), 96))
    assert np.array_equal(dequantize(found.data.numpy(), Kind.Q8_0), dequantize(rows, Kind.MXFP4))


def test_power_of_two_beyond_float16_is_refused():
    blocks = torch.full((1, 1, 16), 0x11, dtype=torch.uint8)
    with pytest.raises(ModelLoadError, match="MXFP4"):
        mxfp4.from_folder(blocks, torch.tensor([[200]], dtype=torch.uint8))


def test_blocks_of_another_family_are_refused_by_name(tmp_path):
    make_folder("llama", tmp_path, "1GB")
    config = tmp_path / "config.json"
    method = {"quantization_config": {"quant_method": "mxfp4"}}
    config.write_text(json.dumps(json.loads(config.read_text()) | method))
    with pytest.raises(ModelLoadError, match="mxfp4"):
        make_driver(tmp_path)
