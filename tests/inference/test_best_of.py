"""`best_of` in completions: generate several, answer the likeliest."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.model

ASK = {"prompt": "Once upon a time", "max_tokens": 6, "temperature": 1.2, "seed": 3}


def complete(served, **fields) -> dict:
    response = served.http.post("/v1/completions", json=ASK | fields)
    assert response.status_code == 200, response.text
    return response.json()


def test_best_of_answers_the_likeliest_first(served):
    tries = complete(served, n=4, logprobs=0)["choices"]

    def per_token(choice: dict) -> float:
        values = choice["logprobs"]["token_logprobs"]
        return sum(values) / len(values)

    best = sorted(tries, key=per_token, reverse=True)
    answer = complete(served, n=2, best_of=4)
    assert [c["text"] for c in answer["choices"]] == [c["text"] for c in best[:2]]
    assert [c["index"] for c in answer["choices"]] == [0, 1]
    assert all(c["logprobs"] is None for c in answer["choices"])
    assert answer["usage"]["completion_tokens"] == 24, "every try is paid for"


def test_best_of_ranks_each_prompt_alone(served):
    prompts = ["Once upon a time", "The sky is"]
    both = complete(served, prompt=prompts, best_of=2, logprobs=1)["choices"]
    alone = [complete(served, prompt=p, best_of=2, logprobs=1)["choices"][0] for p in prompts]
    assert [c["text"] for c in both] == [c["text"] for c in alone]
    assert all(c["logprobs"]["tokens"] for c in both)


@pytest.mark.parametrize("fields", [{"n": 3, "best_of": 2}, {"best_of": 2, "stream": True}])
def test_best_of_is_refused_when_it_cannot_be_ranked(served, fields):
    response = served.http.post("/v1/completions", json=ASK | fields)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "best_of"
