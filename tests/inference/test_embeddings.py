"""POST /v1/embeddings: transformers' mean-pooled hidden states, in OpenAI's shapes."""

from __future__ import annotations

import base64
import struct

import numpy as np
import openai
import pytest
import torch

from inference.protocol import AddRequest
from tests.inference.conftest import Driver, greedy
from tests.inference.serving import MODEL_NAME
from tests.inference.test_families import PROMPTS, make_driver, make_folder


def embed(driver: Driver, *prompts: list[int]) -> list[np.ndarray]:
    """The prompts' vectors, computed side by side."""
    vectors: dict[str, bytes] = {}
    for index, prompt in enumerate(prompts):
        driver.core.add(
            AddRequest(f"e{index}", prompt, greedy(), arrived_at=index, wants_embedding=True)
        )
    while driver.core.scheduler.has_work:
        for output in driver.core.step():
            if output.request_id.startswith("e"):
                vectors[output.request_id] = output.vector
    assert driver.core.kv.pool.num_used == 0
    return [np.frombuffer(vectors[f"e{i}"], "<f4") for i in range(len(prompts))]


def reference(model, prompt: list[int]) -> np.ndarray:
    with torch.inference_mode():
        states = model.model(torch.tensor([prompt])).last_hidden_state[0]
    return torch.nn.functional.normalize(states.mean(dim=0), dim=0).numpy()


@pytest.mark.parametrize(
    "scheduler",
    [{}, {"max_num_batched_tokens": 23, "mixed_step_tokens": 11}],
    ids=["at once", "in chunks"],
)
def test_embedding_is_the_mean_of_transformers_hidden_states(tmp_path, scheduler):
    model = make_folder("llama", tmp_path)
    driver = make_driver(tmp_path, **scheduler)
    prompts = [*PROMPTS, [9]]
    for _ in range(2):  # the second time with a warm prefix cache
        for found, prompt in zip(embed(driver, *prompts), prompts, strict=True):
            np.testing.assert_allclose(found, reference(model, prompt), atol=2e-6)


def test_embeddings_and_answers_beside_each_other_change_neither(tmp_path):
    model = make_folder("llama", tmp_path)
    driver = make_driver(tmp_path, max_num_batched_tokens=16, mixed_step_tokens=8)
    alone = driver.generate(PROMPTS[1], greedy(max_tokens=30, ignore_eos=True))
    stream = driver.add(PROMPTS[1], greedy(max_tokens=30, ignore_eos=True))
    for _ in range(3):
        driver.step()
    before = list(driver.tokens[stream])
    driver.tokens |= {"e0": []}
    [vector] = embed(driver, PROMPTS[0])
    np.testing.assert_allclose(vector, reference(model, PROMPTS[0]), atol=2e-6)
    assert before == alone[: len(before)]


def test_embedding_is_computed_again_when_preempted(tmp_path):
    """Too few blocks for all at once: sums of a first try must not be counted twice."""
    model = make_folder("llama", tmp_path)
    driver = make_driver(tmp_path, max_num_batched_tokens=24)
    prompts = [[(5 * i + j) % 120 + 3 for j in range(190)] for i in range(4)]
    for found, prompt in zip(embed(driver, *prompts), prompts, strict=True):
        np.testing.assert_allclose(found, reference(model, prompt), atol=2e-6)


@pytest.mark.model
def test_openai_client_gets_embeddings(served):
    client = openai.OpenAI(base_url=f"{served.url}/v1", api_key="none")
    texts = ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "Interest rates rose."]
    answer = client.embeddings.create(model=MODEL_NAME, input=texts)
    assert [item.index for item in answer.data] == [0, 1, 2]
    cat, kitten, rates = (np.array(item.embedding) for item in answer.data)
    assert np.linalg.norm(cat) == pytest.approx(1, abs=1e-5)
    assert cat @ kitten > cat @ rates
    assert answer.usage.prompt_tokens == answer.usage.total_tokens > 15


@pytest.mark.model
def test_text_token_ids_and_base64_give_the_same_embedding(served):
    def ask(**fields) -> list:
        response = served.http.post("/v1/embeddings", json=fields)
        assert response.status_code == 200, response.text
        return [item["embedding"] for item in response.json()["data"]]

    ids = served.http.post("/tokenize", json={"prompt": "Good morning."}).json()["tokens"]
    [by_text] = ask(input="Good morning.")
    assert len(by_text) == 576
    assert ask(input=ids) == ask(input=[ids]) == ask(input=["Good morning."]) == [by_text]
    [packed] = ask(input="Good morning.", encoding_format="base64", dimensions=576)
    assert list(struct.unpack("<576f", base64.b64decode(packed))) == pytest.approx(by_text)


@pytest.mark.model
def test_embeddings_are_answered_in_order_when_inputs_exceed_running_requests(served):
    inputs = [f"Sentence number {number}." for number in range(30)]  # 8 seats
    many = served.http.post("/v1/embeddings", json={"input": inputs}).json()["data"]
    [one] = served.http.post("/v1/embeddings", json={"input": inputs[17]}).json()["data"]
    np.testing.assert_allclose(many[17]["embedding"], one["embedding"], atol=1e-5)
    served.wait_until_idle()


@pytest.mark.model
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({}, "input"),
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": ["a", ""]}, "input"),
        ({"input": ["a", 5]}, "input"),
        ({"input": [999999]}, "input"),
        ({"input": "word " * 9000}, "input"),
        ({"input": "a", "dimensions": 64}, "dimensions"),
        ({"input": "a", "encoding_format": "int8"}, "encoding_format"),
    ],
)
def test_bad_embedding_request_is_refused_by_name(served, fields, param):
    response = served.http.post("/v1/embeddings", json=fields)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


@pytest.mark.model
def test_documents_are_reranked_by_the_cosine_of_their_embeddings(served):
    query = "Where does the kitten sleep?"
    texts = ["Interest rates rose.", "A kitten naps on the couch.", "Bonds fell."]
    body = {"query": query, "documents": texts, "return_documents": False}
    answer = served.http.post("/v1/rerank", json=body).json()
    vectors = served.http.post("/v1/embeddings", json={"input": [query, *texts]}).json()
    wanted, *found = (np.array(item["embedding"]) for item in vectors["data"])
    scores = [float(wanted @ vector) for vector in found]
    assert [result["index"] for result in answer["results"]] == list(np.argsort(scores)[::-1])
    for result in answer["results"]:
        assert result["relevance_score"] == pytest.approx(scores[result["index"]], abs=1e-5)
    assert answer["usage"]["prompt_tokens"] == vectors["usage"]["prompt_tokens"]
    first = served.http.post("/v1/rerank", json={**body, "top_n": 1, "return_documents": True})
    assert [result["document"] for result in first.json()["results"]] == [{"text": texts[1]}]


@pytest.mark.model
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"documents": []}, "documents"),
        ({"documents": ["a", ""]}, "documents"),
        ({"documents": ["word " * 9000]}, "documents"),
        ({"query": ""}, "query"),
        ({"top_n": 0}, "top_n"),
        ({"rank_fields": ["text"]}, "rank_fields"),
    ],
)
def test_bad_rerank_request_is_refused_by_name(served, fields, param):
    response = served.http.post("/v1/rerank", json={"query": "a", "documents": ["b"], **fields})
    assert response.status_code == 400
    assert response.json()["error"]["param"].startswith(param)
