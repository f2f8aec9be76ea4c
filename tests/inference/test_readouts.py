"""Readouts are what transformers' hidden states give, of prompts and answers, cached or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from inference.config import EngineConfig, SchedulerConfig
from inference.engine.engine_core import EngineCore
from inference.errors import ModelLoadError
from inference.protocol import AddRequest
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import greedy
from tests.inference.serving import serve
from tests.inference.test_families import PROMPTS, SIZES, make_folder
from tests.inference.tiny import make_tiny_model

LAYER, READOUTS = 2, 3


def write_readout(path: Path, hidden: int = SIZES["hidden_size"], layer: int = LAYER) -> Path:
    torch.manual_seed(3)
    tensors = {"weight": torch.randn(READOUTS, hidden), "bias": torch.randn(READOUTS)}
    save_file(tensors, path, metadata={"layer": str(layer)})
    return path


def make_core(folder: Path, readout: Path, **options) -> EngineCore:
    config = EngineConfig(
        model=str(folder),
        dtype="float32",
        num_blocks=options.pop("num_blocks", 32),
        num_threads=1,
        readout=str(readout),
        swap_blocks=options.pop("swap_blocks", 0),
        scheduler=SchedulerConfig(**options),
    )
    return EngineCore(config, ModelRunner(config))


def run(core: EngineCore, prompts: list[list[int]]) -> Iterator[tuple[list[int], torch.Tensor]]:
    """The tokens and the readouts of each prompt's answer of twelve tokens."""
    tokens: dict[str, list[int]] = {}
    values: dict[str, bytes] = {}
    sampling = greedy(max_tokens=12, ignore_eos=True)
    for index, prompt in enumerate(prompts):
        core.add(AddRequest(f"{index}", prompt, sampling, wants_readouts=True))
    while core.scheduler.has_work:
        for output in core.step():
            tokens.setdefault(output.request_id, []).extend(output.new_token_ids)
            values[output.request_id] = values.get(output.request_id, b"") + output.readouts
    for index in range(len(prompts)):
        found = torch.frombuffer(bytearray(values[f"{index}"]), dtype=torch.float32)
        yield tokens[f"{index}"], found.view(-1, READOUTS)


def wanted(model, readout: Path, tokens: list[int]) -> torch.Tensor:
    from safetensors.torch import load_file

    parts = load_file(readout)
    with torch.inference_mode():
        states = model(torch.tensor([tokens]), output_hidden_states=True).hidden_states[LAYER]
    return states[0] @ parts["weight"].T + parts["bias"]


@pytest.mark.parametrize("family", ["llama", "gemma3"])
@pytest.mark.parametrize("options", [{}, {"max_num_batched_tokens": 23, "mixed_step_tokens": 11}])
def test_readouts_are_those_of_transformers(options, family, tmp_path):
    model, readout = make_folder(family, tmp_path), write_readout(tmp_path / "readout.st")
    core = make_core(tmp_path, readout, **options)
    for prompt, (tokens, found) in zip(PROMPTS, run(core, PROMPTS), strict=True):
        # The last token is never computed: nothing comes after it.
        known = [*prompt, *tokens][:-1]
        torch.testing.assert_close(found, wanted(model, readout, known), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_readouts_of_a_cached_prefix_are_given_again(family, tmp_path):
    make_folder(family, tmp_path)
    core = make_core(tmp_path, write_readout(tmp_path / "readout.st"))
    [(first_tokens, first)] = run(core, PROMPTS[:1])
    [(tokens, again)] = run(core, PROMPTS[:1])
    assert core.stats().prefix_tokens_hit > 0
    assert tokens == first_tokens
    assert len(again) == len(PROMPTS[0]) + 11
    torch.testing.assert_close(again, first, rtol=1e-4, atol=1e-4)


def test_readouts_follow_preempted_sequences_to_host_memory_and_back(tmp_path, monkeypatch):
    model, readout = make_folder("llama", tmp_path), write_readout(tmp_path / "readout.st")
    core = make_core(tmp_path, readout, num_blocks=18, swap_blocks=16, max_num_seqs=8)
    monkeypatch.setattr(core.kv.swap_costs, "prefer_swap", lambda tokens, blocks: True)
    prompts = [[(i + 7 * j) % 120 + 3 for j in range(40)] for i in range(8)]
    for prompt, (tokens, found) in zip(prompts, run(core, prompts), strict=True):
        known = [*prompt, *tokens][:-1]
        torch.testing.assert_close(found, wanted(model, readout, known), rtol=1e-3, atol=1e-3)
    assert core.scheduler.swaps > 0


@pytest.mark.parametrize(
    ("hidden", "layer", "reason"), [(32, LAYER, "64"), (64, 9, "layer 9 of 3"), (64, 0, "layer 0")]
)
def test_readout_of_another_model_is_refused(hidden, layer, reason, tmp_path):
    make_folder("llama", tmp_path)
    readout = write_readout(tmp_path / "readout.st", hidden, layer)
    with pytest.raises(ModelLoadError, match=reason):
        make_core(tmp_path, readout)


def test_file_without_a_readout_is_refused(tmp_path):
    make_folder("llama", tmp_path)
    (tmp_path / "readout.st").write_text("nothing")
    with pytest.raises(ModelLoadError, match="holds no readout"):
        make_core(tmp_path, tmp_path / "readout.st")


def test_server_gives_readouts_to_who_asks(tmp_path):
    folder = make_tiny_model(tmp_path / "model")
    readout = write_readout(tmp_path / "readout.st", hidden=32, layer=1)
    body = {"prompt": "A lamp", "max_tokens": 4, "temperature": 0, "ignore_eos": True}
    asking = {**body, "return_readouts": True}
    with serve(folder, "--readout", str(readout)) as served:
        assert "readouts" not in served.http.post("/v1/completions", json=body).json()["choices"][0]
        whole = served.http.post("/v1/completions", json=asking).json()["choices"][0]["readouts"]
        streamed = served.http.post("/v1/completions", json={**asking, "stream": True}).text
        parts = [
            json.loads(line[6:])["choices"][0].get("readouts", [])
            for line in streamed.splitlines()
            if line.startswith("data: {")
        ]
        chat = {**asking, "messages": [{"role": "user", "content": "A lamp"}]}
        del chat["prompt"]
        [choice] = served.http.post("/v1/chat/completions", json=chat).json()["choices"]
    assert len(whole) == len("A lamp") + 3
    assert all(len(row) == READOUTS for row in whole)
    assert [row for part in parts for row in part] == whole
    assert len(choice["readouts"]) > len(whole)


def test_server_without_readouts_refuses_who_asks(tiny_served):
    body = {"prompt": "A", "return_readouts": True}
    answer = tiny_served.http.post("/v1/completions", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "return_readouts"
