"""What a model's own files say about sampling is what its chats get, and nothing else gets it."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import pytest

from inference.errors import ModelLoadError
from inference.text.generation_config import load_chat_defaults
from tests.inference.serving import serve
from tests.inference.tiny import make_tiny_model


def folder(path: Path, config: object) -> str:
    path.joinpath("generation_config.json").write_text(json.dumps(config))
    return str(path)


def test_folder_says(tmp_path: Path) -> None:
    config = {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 1.1}
    ignored = {"eos_token_id": [1, 2], "do_sample": True, "transformers_version": "4.44"}
    assert load_chat_defaults(folder(tmp_path, {**config, **ignored})) == config


def test_folder_is_silent(tmp_path: Path) -> None:
    assert load_chat_defaults(str(tmp_path)) == {}
    assert load_chat_defaults(folder(tmp_path, {"temperature": None})) == {}


@pytest.mark.parametrize("value", [-1, 99, "hot", True, float("nan"), [0.5]])
def test_value_that_no_request_could_name_is_left_out(tmp_path: Path, value: object) -> None:
    assert load_chat_defaults(folder(tmp_path, {"temperature": value, "top_k": 5})) == {"top_k": 5}


@pytest.mark.parametrize("text", ["{", "[1]", '"x"'])
def test_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    tmp_path.joinpath("generation_config.json").write_text(text)
    with pytest.raises(ModelLoadError, match=r"generation_config\.json"):
        load_chat_defaults(str(tmp_path))


def test_gguf_says(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_float32("general.sampling.temp", 0.5)
    writer.add_int32("general.sampling.top_k", 20)
    writer.add_float32("general.sampling.penalty_repeat", 1.25)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    expected = {"temperature": 0.5, "top_k": 20, "repetition_penalty": 1.25}
    assert load_chat_defaults(str(path)) == expected


def test_chat_gets_them_and_its_own_values_come_first(tmp_path: Path) -> None:
    """A model whose makers want it greedy answers twice alike, unless a request says otherwise."""
    model = make_tiny_model(tmp_path)
    folder(model, {"temperature": 0.0})
    with serve(model, "--num-blocks", "64") as served:

        def answers(path: str, **fields: object) -> set[str]:
            texts = set()
            for _ in range(4):
                body = {"max_tokens": 12, "ignore_eos": True, **fields}
                choice = served.http.post(path, json=body).raise_for_status().json()["choices"][0]
                texts.add(choice["text"] if "text" in choice else choice["message"]["content"])
            return texts

        messages = [{"role": "user", "content": "a"}]
        assert len(answers("/v1/chat/completions", messages=messages)) == 1
        assert len(answers("/v1/chat/completions", messages=messages, temperature=2.0)) > 1
        assert len(answers("/v1/completions", prompt="a")) > 1, "a text is OpenAI's temperature 1"
