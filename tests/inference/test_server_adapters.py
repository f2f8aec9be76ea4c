"""Adapters over HTTP: loaded and unloaded while the engine runs, named `base:adapter`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import transformers

from tests.inference.adapter_files import write_adapter
from tests.inference.serving import MODEL_NAME, Served, serve, wait_for
from tests.inference.tiny import make_tiny_model

BODY = {"prompt": "A lamp is a thing", "max_tokens": 12, "temperature": 0, "ignore_eos": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("base"), context=2048)


@pytest.fixture(scope="module")
def adapters(folder, tmp_path_factory) -> list[Path]:
    model = transformers.LlamaForCausalLM.from_pretrained(folder)
    where = tmp_path_factory.mktemp("adapters")
    return [write_adapter(where / str(i), model, seed=i, strength=2.0) for i in range(3)]


@pytest.fixture(scope="module")
def served(folder, adapters) -> Iterator[Served]:
    """An engine that has one adapter, and holds two at once: each test leaves it so."""
    options = ("--lora-modules", f"first={adapters[0]}", "--max-loras", "2", "--num-blocks", "300")
    with serve(folder, *options) as running:
        yield running


def answer(served: Served, model: str) -> str:
    response = served.http.post("/v1/completions", json={**BODY, "model": model})
    assert response.status_code == 200, response.text
    assert response.json()["model"] == model
    return response.json()["choices"][0]["text"]


def load(served: Served, name: str, path: Path | str):
    body = {"lora_name": name, "lora_path": str(path)}
    return served.http.post("/v1/load_lora_adapter", json=body)


def unload(served: Served, name: str):
    return served.http.post("/v1/unload_lora_adapter", json={"lora_name": name})


def models(served: Served) -> list[str]:
    return [card["id"] for card in served.http.get("/v1/models").json()["data"]]


def test_adapters_come_and_go_while_the_engine_runs(served, adapters):
    first, second, third = (f"{MODEL_NAME}:{name}" for name in ("first", "second", "third"))
    assert models(served) == [MODEL_NAME, first]
    answers = {model: answer(served, model) for model in (MODEL_NAME, first)}
    assert answers[MODEL_NAME] != answers[first]

    assert answer_of_unknown(served, second)["code"] == "model_not_found"
    assert load(served, "second", adapters[1]).json() == {"loaded": second}
    answers[second] = answer(served, second)
    # A third one takes the place of the least recently used, which is read again when asked for.
    assert load(served, "third", adapters[2]).status_code == 200
    answers[third] = answer(served, third)
    assert len(set(answers.values())) == 4
    assert {model: answer(served, model) for model in reversed(answers)} == answers

    assert unload(served, "second").json() == {"unloaded": second, "running": 0}
    assert models(served) == [MODEL_NAME, first, third]
    assert second in answer_of_unknown(served, second)["message"]
    assert unload(served, "second").status_code == 404
    assert unload(served, "third").status_code == 200


def answer_of_unknown(served: Served, model: str) -> dict:
    response = served.http.post("/v1/completions", json={**BODY, "model": model})
    assert response.status_code == 404
    return response.json()["error"]


def test_adapter_is_kept_until_the_last_request_that_has_it_ends(served, adapters):
    model = f"{MODEL_NAME}:first"
    body = {**BODY, "model": model, "max_tokens": 600, "stream": True}
    whole = served.http.post("/v1/completions", json={**body, "stream": False}).json()
    with served.http.stream("POST", "/v1/completions", json=body) as streamed:
        lines = (line for line in streamed.iter_lines() if line)
        begun = [next(lines)]
        assert unload(served, "first").json() == {"unloaded": model, "running": 1}
        answer_of_unknown(served, model)
        assert load(served, "second", adapters[1]).status_code == 200
        # Both places are taken, one of them by an adapter in use and no longer named.
        parts = [json.loads(line[6:]) for line in [*begun, *lines] if line.startswith("data: {")]
    said = "".join(part["choices"][0]["text"] for part in parts)
    assert said == whole["choices"][0]["text"]
    assert load(served, "first", adapters[0]).status_code == 200
    assert unload(served, "second").status_code == 200


def test_adapters_are_read_again_when_the_core_was_replaced(served):
    model = f"{MODEL_NAME}:first"
    before = answer(served, model)
    [core] = psutil.Process(served.process.pid).children()
    core.kill()
    server = psutil.Process(served.process.pid)
    wait_for(lambda: [one.pid for one in server.children()] not in ([], [core.pid]), timeout_s=90)
    wait_for(lambda: served.http.get("/ready").status_code == 200, timeout_s=90)
    assert answer(served, model) == before


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({"lora_name": "x"}, 400, "lora_path"),
        ({"lora_name": "../x", "lora_path": "/"}, 400, "lora_name"),
        ({"lora_name": "x", "lora_path": "/nowhere"}, 400, "lora_path"),
        ({"lora_name": "first", "lora_path": "/nowhere"}, 409, "lora_name"),
        ({"lora_name": "x", "lora_path": "/", "y": 1}, 400, "y"),
    ],
)
def test_bad_load_is_refused_by_name(served, body, status, param):
    response = served.http.post("/v1/load_lora_adapter", json=body)
    assert (response.status_code, response.json()["error"]["param"]) == (status, param)


def test_engine_without_adapters_says_how_it_gets_them(tiny_served, adapters):
    response = load(tiny_served, "x", adapters[0])
    assert response.status_code == 400
    assert "--enable-lora" in response.json()["error"]["message"]
