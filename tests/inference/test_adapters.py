"""Adapters side by side: each request gets what its own merged model says, token for token."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from inference.config import EngineConfig, Rounding, SchedulerConfig
from inference.engine.engine_core import EngineCore
from inference.errors import AdapterError, ModelLoadError
from inference.protocol import LoadAdapter
from inference.runner.adapters import RunningAdapters
from inference.runner.model_runner import ModelRunner
from tests.inference.adapter_files import ALL, merged, write_adapter
from tests.inference.conftest import Driver, greedy, make_driver
from tests.inference.test_families import PROMPTS, make_folder, reference_answer
from tests.inference.test_gguf_formats import write_model

SAMPLING = greedy(max_tokens=10, ignore_eos=True)
ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")


def running_adapters(driver: Driver) -> RunningAdapters:
    runner = driver.core.runner
    assert isinstance(runner, ModelRunner) and runner.adapters is not None
    return runner.adapters


def load(driver: Driver, adapter_id: int, folder: Path) -> None:
    """Have an engine read an adapter; raises what it says of one that it cannot use."""
    adapters = running_adapters(driver)
    adapters.load(LoadAdapter(adapter_id, str(folder)))
    while not (done := adapters.finished()):
        time.sleep(0.01)
    if done[0].error is not None:
        raise AdapterError(done[0].error)


@pytest.mark.parametrize(
    ("family", "targets"),
    [
        ("llama", ALL),
        ("llama-tied", ("q_proj", "v_proj")),
        ("qwen2", ("k_proj", "o_proj", "up_proj")),
        ("qwen3", ALL),
        ("gemma3", ALL),
        ("phi3", ("qkv_proj", "o_proj", "gate_up_proj", "down_proj")),
        ("mixtral", ATTENTION),
        ("deepseek-v3", ("q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "o_proj")),
    ],
)
def test_mixed_batch_has_the_tokens_of_the_merged_models(family, targets, tmp_path):
    model = make_folder(family, tmp_path / "base")
    driver = make_driver(
        tmp_path / "base", max_loras=3, max_num_batched_tokens=23, mixed_step_tokens=11
    )
    references = {0: model}
    for adapter_id in (1, 2, 3):
        folder = write_adapter(
            tmp_path / f"adapter{adapter_id}",
            model,
            seed=adapter_id,
            rank=(3, 4, 8)[adapter_id - 1],
            targets=targets,
            use_rslora=adapter_id == 3,
        )
        load(driver, adapter_id, folder)
        references[adapter_id] = merged(model, folder)
    asked = [(prompt, i) for prompt in PROMPTS for i in (2, 0, 1, 3, 1)]
    ids = [driver.add(prompt, SAMPLING, adapter_id=i) for prompt, i in asked]
    tokens = driver.run()
    wanted = [
        reference_answer(references[i], prompt, 10, tokens[each])
        for each, (prompt, i) in zip(ids, asked, strict=True)
    ]
    assert [tokens[each] for each in ids] == wanted
    assert len({tuple(answer) for answer in wanted[:4]}) > 1, "the adapters change nothing"


@pytest.mark.parametrize("int8_activations", ["off", "on"])
def test_quantized_model_has_the_tokens_of_the_merged_ones(int8_activations, tmp_path):
    path = tmp_path / "tiny.gguf"
    write_model(path, Kind.Q4_1)
    reference = AutoModelForCausalLM.from_pretrained(
        str(tmp_path), gguf_file=path.name, dtype=torch.float32
    ).eval()
    prompts = [[(5 * i * i + 3) % 90 + 3 for i in range(length)] for length in (30, 110)]
    check_quantized_model(path, reference, prompts, int8_activations, strength=0.5)


@pytest.mark.nightly(
    beside="tests/inference/test_adapters.py"
    "::test_quantized_model_has_the_tokens_of_the_merged_ones"
)
@pytest.mark.model
@pytest.mark.parametrize("int8_activations", ["off", "on"])
def test_default_model_has_the_tokens_of_the_merged_ones(
    int8_activations, model_path, reference_model, tokenizer
):
    questions = ["What is the capital of France?", "Name three fruits. " * 30]
    prompts = [
        tokenizer.encode(f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n")
        for question in questions
    ]
    check_quantized_model(model_path, reference_model, prompts, int8_activations, strength=0.1)


def check_quantized_model(
    path: Path,
    reference: torch.nn.Module,
    prompts: list[list[int]],
    int8_activations: Rounding,
    strength: float,
) -> None:
    """By our kernels: steps of few rows are one call, the long prompt's chunks are not. Activations
    in int8 are compared with the engine's own answers, each request alone."""
    config = EngineConfig(
        model=str(path),
        num_blocks=256,
        max_model_len=128 if len(prompts[1]) < 128 else 1024,
        num_threads=1,
        int8_activations=int8_activations,
        max_loras=2,
        scheduler=SchedulerConfig(mixed_step_tokens=100),
    )
    driver = Driver(EngineCore(config, ModelRunner(config)))
    references = {0: reference}
    with TemporaryDirectory() as adapters:
        for adapter_id, targets in ((1, ALL), (2, ("q_proj", "v_proj"))):
            folder = write_adapter(
                Path(adapters) / str(adapter_id),
                reference,
                seed=adapter_id,
                targets=targets,
                strength=strength,
            )
            load(driver, adapter_id, folder)
            if int8_activations == "off":
                references[adapter_id] = merged(reference, folder)
    asked = [(prompt, i) for prompt in prompts for i in (1, 0, 2)]
    ids = [driver.add(prompt, SAMPLING, adapter_id=i) for prompt, i in asked]
    driver.run()
    for each, (prompt, i) in zip(ids, asked, strict=True):
        answer = driver.tokens[each]
        if int8_activations == "on":
            alone = driver.add(prompt, SAMPLING, adapter_id=i, salt="alone")
            assert driver.run()[alone] == answer
            continue
        with torch.inference_mode():
            logits = references[i](torch.tensor([prompt + answer])).logits[0]
        assert logits[len(prompt) - 1 : -1].argmax(-1).tolist() == answer
    assert len({tuple(driver.tokens[each]) for each in ids[:3]}) == 3


def test_cached_prefix_of_one_adapter_is_not_anothers(tmp_path):
    model = make_folder("llama", tmp_path / "base")
    driver = make_driver(tmp_path / "base", max_loras=3)
    first = write_adapter(tmp_path / "first", model, seed=1)
    load(driver, 1, first)
    load(driver, 2, write_adapter(tmp_path / "second", model, seed=2))

    def cached(adapter_id: int) -> int:
        request_id = driver.add(PROMPTS[0], SAMPLING, adapter_id=adapter_id)
        driver.run()
        return driver.cached[request_id]

    assert [cached(i) for i in (0, 1, 2)] == [0, 0, 0]
    assert [cached(i) for i in (0, 1, 2)] == [48, 48, 48]
    load(driver, 3, first)  # the same again: its blocks are what it would compute
    assert cached(3) == 48


def test_request_is_refused_when_its_adapter_is_not_loaded(tmp_path):
    model = make_folder("llama", tmp_path / "base")
    driver = make_driver(tmp_path / "base", max_loras=1)
    load(driver, 1, write_adapter(tmp_path / "adapter", model, seed=1))
    running_adapters(driver).unload(1)
    with pytest.raises(AdapterError, match="not loaded"):
        driver.add(PROMPTS[0], SAMPLING, adapter_id=1)


def test_no_more_adapters_are_loaded_than_may_be(tmp_path):
    model = make_folder("llama", tmp_path / "base")
    driver = make_driver(tmp_path / "base", max_loras=1)
    folder = write_adapter(tmp_path / "adapter", model, seed=1)
    load(driver, 1, folder)
    with pytest.raises(AdapterError, match="1 adapters are loaded"):
        load(driver, 2, folder)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"r": 128}, "ranks from 1 to 64"),
        ({"r": None}, "r is None"),
        ({"lora_alpha": "much"}, "lora_alpha"),
        ({"peft_type": "IA3"}, "peft_type 'IA3'"),
        ({"use_dora": True}, "use_dora"),
        ({"bias": "all"}, "bias 'all'"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"alpha_pattern": {"q_proj": 3}}, "alpha_pattern"),
        ({"init_lora_weights": "pissa_niter_4"}, "pissa"),
    ],
)
def test_configuration_beyond_plain_lora_is_refused_by_name(config, reason, tmp_path):
    model = make_folder("llama", tmp_path / "base")
    driver = make_driver(tmp_path / "base", max_loras=1)
    folder = write_adapter(tmp_path / "adapter", model, seed=1, **config)
    with pytest.raises(AdapterError, match=reason):
        load(driver, 1, folder)


_DOWN = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
_UP = _DOWN.replace("lora_A", "lora_B")
_SEVENTH = _DOWN.replace(".0.", ".7.")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({_DOWN: torch.ones(4, 32)}, "another model: .*q_proj.weight is 64 x 64 here"),
        ({_UP: torch.ones(48, 4)}, "another model"),
        ({_UP: torch.ones(64, 5)}, "no common rank"),
        ({_UP: None}, "not both"),
        ({_DOWN: torch.full((4, 64), float("nan"))}, "finite"),
        ({_DOWN: torch.ones(4, 64, dtype=torch.int8)}, "finite"),
        ({_DOWN.replace("lora_A", "lora_magnitude_vector"): torch.ones(3)}, "no tensor of plain"),
        (
            {_SEVENTH: torch.ones(4, 64), _SEVENTH.replace("lora_A", "lora_B"): torch.ones(64, 4)},
            "1 modules that cannot be adapted in this model: model.layers.7",
        ),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_name(changes, reason, tmp_path):
    model = make_folder("llama", tmp_path / "base")
    driver = make_driver(tmp_path / "base", max_loras=1)
    folder = write_adapter(tmp_path / "adapter", model, seed=1)
    file = folder / "adapter_model.safetensors"
    changed = load_file(file) | changes
    save_file({name: tensor for name, tensor in changed.items() if tensor is not None}, file)
    with pytest.raises(AdapterError, match=reason):
        load(driver, 1, folder)


def test_damaged_file_is_refused_and_the_engine_goes_on(tmp_path):
    model = make_folder("llama", tmp_path / "base")
    driver = make_driver(tmp_path / "base", max_loras=1)
    folder = write_adapter(tmp_path / "adapter", model, seed=1)
    file = folder / "adapter_model.safetensors"
    whole = file.read_bytes()
    for content in (b"", whole[:100], whole[:-1], b"\xff" * 64):
        file.write_bytes(content)
        with pytest.raises(AdapterError, match="cannot be read"):
            load(driver, 1, folder)
    for config in ("", "[]", "{"):
        (folder / "adapter_config.json").write_text(config)
        with pytest.raises(AdapterError, match="adapter_config"):
            load(driver, 1, folder)
    assert driver.generate(PROMPTS[1], SAMPLING) == reference_answer(model, PROMPTS[1], 10)


def test_adapters_are_refused_on_several_ranks(tmp_path):
    make_folder("llama", tmp_path)
    config = EngineConfig(model=str(tmp_path), max_loras=1, tensor_parallel=2, num_blocks=32)
    with pytest.raises(ModelLoadError, match="--enable-lora"):
        ModelRunner(config)


def test_adapter_with_the_settings_of_align_is_taken(tmp_path):
    """Its settings: all products, rank 16."""
    model = make_folder("llama", tmp_path / "base")
    driver = make_driver(tmp_path / "base", max_loras=1)
    extra: dict[str, Any] = {
        "auto_mapping": None,
        "rank_pattern": {},
        "alpha_pattern": {},
        "peft_version": "0.21.2",
    }
    folder = write_adapter(tmp_path / "adapter", model, seed=1, rank=16, lora_alpha=32, **extra)
    load(driver, 1, folder)
    request_id = driver.add(PROMPTS[0], SAMPLING, adapter_id=1)
    assert driver.run()[request_id] == reference_answer(merged(model, folder), PROMPTS[0], 10)
