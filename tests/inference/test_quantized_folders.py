"""`quantization_config` of a Hugging Face folder: the numbers that it stands for, or a
refusal that names it."""

from __future__ import annotations

import functools
import json
import logging
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from inference.errors import ModelLoadError
from inference.model.build import build_model
from inference.model.files.open import open_weights
from tests.inference.conftest import greedy, make_driver
from tests.inference.quantized_folders import (
    Writer,
    awq,
    fp8,
    gptq,
    int8_rows,
    packed_ints,
    quantize_folder,
)
from tests.inference.test_families import PROMPTS, make_folder, reference_answer

SIZES = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2}


def compressed(form: str, **weights: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": {"type": "int", "num_bits": 8} | weights}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
    }


def gptq_config(**changes: Any) -> dict[str, Any]:
    return {"quant_method": "gptq", "bits": 4, "group_size": 64} | changes


class Case(NamedTuple):
    write: Writer
    config: dict[str, Any]
    kinds: set[str]
    """Of the blocks that the matrices become; none: dense."""
    family: str = "llama"


AWQ_CONFIG = {
    "quant_method": "awq",
    "bits": 4,
    "group_size": 128,
    "version": "gemm",
    "zero_point": True,
}
BLOCKS = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
CASES = {
    "awq": Case(awq, AWQ_CONFIG, {"Q5_0"}),
    "awq-phi3": Case(awq, AWQ_CONFIG, {"Q5_0"}, "phi3"),
    "gptq": Case(gptq(4, symmetric=True, version=1), gptq_config(), {"Q4_0"}),
    "gptq-asymmetric": Case(gptq(4, symmetric=False, version=1), gptq_config(), {"Q5_0"}),
    "gptq-2": Case(
        gptq(4, symmetric=False, version=2), gptq_config(checkpoint_format="gptq_v2"), {"Q5_0"}
    ),
    "gptq-8": Case(gptq(8, symmetric=True, version=1), gptq_config(bits=8), {"Q8_0"}),
    "gptq-8-asymmetric": Case(
        gptq(8, symmetric=False, version=2),
        gptq_config(bits=8, checkpoint_format="gptq_v2"),
        set(),
    ),
    "gptq-by-activation": Case(
        gptq(4, symmetric=True, version=1, in_order=False), gptq_config(desc_act=True), set()
    ),
    "packed-4": Case(
        packed_ints(4, symmetric=True), compressed("pack-quantized", num_bits=4), {"Q4_0"}
    ),
    "packed-4-asymmetric": Case(
        packed_ints(4, symmetric=False), compressed("pack-quantized", num_bits=4), {"Q5_0"}
    ),
    "packed-8-rows": Case(
        packed_ints(8, symmetric=True, by_row=True), compressed("pack-quantized"), {"Q8_0"}
    ),
    "int8": Case(int8_rows, compressed("int-quantized", strategy="channel"), {"Q8_0"}),
    "int8-asymmetric": Case(
        partial(int8_rows, symmetric=False), compressed("int-quantized"), set()
    ),
    "fp8-blocks": Case(fp8("block", "weight_scale_inv"), BLOCKS, set()),
    "fp8-matrix": Case(fp8("matrix", "weight_scale"), {"quant_method": "fp8"}, set()),
    "fp8-rows": Case(
        fp8("row", "weight_scale"), compressed("float-quantized", type="float"), set()
    ),
}


Quantized = Callable[[str], tuple[Path, PreTrainedModel]]


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Quantized:
    """A case's folder, made once, and the reference, with the numbers that the folder's matrices
    stand for: leave both as they are."""

    @functools.cache
    def make(name: str) -> tuple[Path, PreTrainedModel]:
        case, folder = CASES[name], tmp_path_factory.mktemp(name)
        changes = SIZES | ({"pad_token_id": 0} if case.family == "phi3" else {})
        model = make_folder(case.family, folder, "1GB", **changes)
        with torch.no_grad():
            quantize_folder(folder, model, case.write, case.config)
        return folder, model

    return make


@pytest.mark.parametrize("name", CASES)
def test_quantized_folder_gives_the_tokens_of_the_numbers_that_it_stands_for(name, quantized):
    folder, reference = quantized(name)
    driver = make_driver(folder, max_num_batched_tokens=23, mixed_step_tokens=11)
    ids = [driver.add(p, greedy(max_tokens=8, ignore_eos=True)) for p in PROMPTS]
    tokens = driver.run()
    for i, prompt in zip(ids, PROMPTS, strict=True):
        assert tokens[i] == reference_answer(reference, prompt, 8, tokens[i])


@pytest.mark.parametrize("name", CASES)
def test_matrices_stay_in_the_fewest_bits_that_hold_their_numbers(name, quantized, caplog):
    case, (folder, model) = CASES[name], quantized(name)
    reader = open_weights(str(folder))
    with caplog.at_level(logging.WARNING):
        rows = reader.read_packed("layers.1.mlp.down")
    found = set() if rows is None else {rows.kind.name}
    assert found == case.kinds
    assert ("become dense" in caplog.text) == (not case.kinds)
    wanted = model.model.layers[1].mlp.down_proj.weight
    torch.testing.assert_close(reader.read("layers.1.mlp.down"), wanted, rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("case", "end", "damage", "reason"),
    [
        ("awq", "qzeros", lambda t: t[:, 1:], "qzeros has shape"),
        ("awq", "scales", lambda t: t * torch.inf, "scales has scales that are no finite numbers"),
        ("awq", "scales", None, "no tensor .*scales"),
        ("awq", "qweight", lambda t: t.float(), "qweight is torch.float32"),
        ("awq", "qweight", None, "no tensor .*qweight"),
        ("awq", "qweight", lambda t: t[1:], "qweight has 127 columns in groups of 128"),
        ("gptq", "g_idx", lambda t: t + 9, "g_idx has groups beyond"),
        ("gptq", "qweight", lambda t: t[:, 8:].contiguous(), "scales has shape"),
        ("packed-4", "weight_shape", lambda t: t * 2, "weight_packed has shape"),
        ("packed-4", "weight_shape", None, "no tensor .*weight_shape"),
        ("packed-4", "weight_scale", lambda t: t[1:], "weight_scale has shape"),
        ("packed-4-asymmetric", "weight_zero_point", lambda t: t[1:], "weight_zero_point has"),
        ("int8", "weight", None, "no tensor .*weight"),
        ("int8", "weight", lambda t: t.to(torch.int16), "weight is torch.int16"),
        ("int8", "weight_scale", None, "no scales"),
        ("fp8-blocks", "weight_scale_inv", lambda t: t[:, :0], "weight_scale_inv has shape"),
        ("fp8-blocks", "weight_scale_inv", None, "no scales"),
        ("fp8-rows", "weight_scale", lambda t: t[3:], "weight_scale has shape"),
    ],
)
def test_damaged_matrix_is_refused_by_name(case, end, damage, reason, quantized, tmp_path):
    shutil.copytree(quantized(case)[0], tmp_path, dirs_exist_ok=True)
    file, name = tmp_path / "model.safetensors", f"model.layers.1.self_attn.k_proj.{end}"
    tensors = load_file(file)
    tensor = tensors.pop(name)
    if damage is not None:
        tensors[name] = damage(tensor)
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match=rf"layers\.1\.self_attn\.k_proj.*{reason}|{reason}"):
        build_model(open_weights(str(tmp_path)), torch.float32, torch.device("cpu"))


def test_scales_beside_a_matrix_that_has_none_in_its_format_are_refused_by_name(
    quantized, tmp_path
):
    shutil.copytree(quantized("awq")[0], tmp_path, dirs_exist_ok=True)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file) | {"model.layers.0.mlp.up_proj.weight_scale": torch.ones(3)}
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match=r"layers\.0\.mlp\.up_proj\.weight_scale"):
        open_weights(str(tmp_path))


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes"),
        ({"quant_method": "hqq"}, "hqq"),
        ({"bits": 4}, "bits"),
        ({"quant_method": "awq", "version": "gemv"}, "version 'gemv'"),
        ({"quant_method": "gptq", "bits": 3}, "bits 3"),
        ({"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"}, "marlin"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 0}, "group_size 0"),
        ({"quant_method": "fp8", "weight_block_size": [128]}, "weight_block_size"),
        (compressed("nvfp4-pack-quantized"), "nvfp4"),
        (compressed("pack-quantized", num_bits=3), "int weights of 3 bits"),
        (compressed("int-quantized") | {"transform_config": {"a": 1}}, "transform_config"),
        (
            compressed("int-quantized") | {"sparsity_config": {"format": "sparse-24-bitmask"}},
            "sparse-24",
        ),
    ],
)
def test_format_that_is_not_implemented_is_refused_before_weights_are_read(
    config, reason, tmp_path
):
    make_folder("llama", tmp_path, "1GB")
    (tmp_path / "model.safetensors").write_bytes(b"")
    file = tmp_path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"quantization_config": config}))
    with pytest.raises(ModelLoadError, match=reason):
        open_weights(str(tmp_path))
