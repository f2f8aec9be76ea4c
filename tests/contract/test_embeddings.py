"""`client.embeddings`: texts and token ids to vectors, metered like everything else; and documents
by what they have to do with a query, which OpenAI's client has no method for."""

import math

import httpx
import openai
import pytest

from tests.api.users import Person
from tests.support.product import Product

pytestmark = pytest.mark.model


def embed(client, given, **options):
    return client.embeddings.create(model="smollm2-135m", input=given, **options)


def cosine(one, other):
    return sum(a * b for a, b in zip(one.embedding, other.embedding, strict=True))


def test_embeddings_of_similar_texts_are_closer(client):
    answer = embed(
        client,
        [
            "The cat sleeps on the warm sofa.",
            "A kitten naps on the couch.",
            "def add(a, b): return a + b",
        ],
    )
    assert answer.object == "list" and answer.model == "smollm2-135m"
    assert [vector.index for vector in answer.data] == [0, 1, 2]
    cat, kitten, code = answer.data
    assert math.isclose(cosine(cat, cat), 1.0, rel_tol=1e-4)
    assert cosine(cat, kitten) > cosine(cat, code)


def test_encodings_and_input_kinds_give_the_same_embedding(client):
    text = "The capital of France is Paris."
    plain = embed(client, text, encoding_format="float").data[0].embedding
    packed = embed(client, [text]).data[0].embedding  # the client asks for base64 by itself
    assert packed == pytest.approx(plain, abs=1e-5)
    by_ids = embed(client, [504, 3575, 282, 4649, 314]).data[0].embedding
    assert len(by_ids) == len(plain)


def test_embedding_input_is_metered_once_and_not_stored(client, product: Product):
    secret = "An unmistakable sentence about zebras in Zanzibar."
    raw = client.embeddings.with_raw_response.create(model="smollm2-135m", input=secret)
    answer = raw.parse()
    assert int(raw.headers["x-ratelimit-remaining-requests"]) >= 0
    [row] = product.rows(
        "SELECT g.state, g.endpoint, g.input_tokens, u.input_tokens AS billed, u.output_tokens"
        " FROM generation_generation g JOIN billing_usagerecord u ON u.generation_id = g.id"
        " WHERE g.id = %s",
        [raw.headers["x-parley-generation-id"]],
    )
    assert (row["state"], row["endpoint"]) == ("completed", "embedding")
    assert row["input_tokens"] == row["billed"] == answer.usage.prompt_tokens > 5
    assert row["output_tokens"] == 0


@pytest.mark.parametrize(
    ("given", "options", "param"),
    [
        ("", {}, "input"),
        ([], {}, "input"),
        (["fine", ""], {}, "input"),
        ([-1], {}, "input"),
        ([10_000_000], {}, "input"),
        ("x", {"dimensions": 7}, "dimensions"),
        ("x", {"encoding_format": "hex"}, "encoding_format"),
    ],
)
def test_invalid_embedding_input_is_named(client, developer: Person, given, options, param):
    with pytest.raises(openai.BadRequestError) as refusal:
        embed(client, given, **options)
    assert (refusal.value.param or "").startswith(param)


def test_unknown_model_is_not_found(client):
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="text-embedding-3-small", input="x")


def rerank(client, **fields):
    return client.post("/rerank", body=fields, cast_to=httpx.Response)


TEXTS = ["Interest rates rose again.", "A kitten naps on the couch.", "Bonds fell in March."]


def test_documents_are_reranked_metered_and_not_stored(client, product: Product):
    answer = rerank(
        client,
        query="Where does the kitten sleep?",
        documents=[TEXTS[0], {"text": TEXTS[1]}, TEXTS[2]],
        top_n=2,
    )
    body = answer.json()
    first, second = body["results"]
    assert first == {
        "index": 1,
        "document": {"text": TEXTS[1]},
        "relevance_score": first["relevance_score"],
    }
    assert 1 >= first["relevance_score"] >= second["relevance_score"] >= -1
    assert body["model"] == "smollm2-135m", "auto is a model that can"
    [row] = product.rows(
        "SELECT g.state, g.endpoint, u.input_tokens AS billed, u.output_tokens, g::text AS stored"
        " FROM generation_generation g JOIN billing_usagerecord u ON u.generation_id = g.id"
        " WHERE g.id = %s",
        [answer.headers["x-parley-generation-id"]],
    )
    assert (row["state"], row["endpoint"], row["output_tokens"]) == ("completed", "rerank", 0)
    assert row["billed"] == body["usage"]["total_tokens"] > 12
    assert "kitten" not in row["stored"]
    bare = rerank(client, model="auto", query="x", documents=TEXTS, return_documents=False).json()
    assert [sorted(result) for result in bare["results"]] == [["index", "relevance_score"]] * 3


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"query": ""}, "query"),
        ({"documents": []}, "documents"),
        ({"documents": ["fine", ""]}, "documents"),
        ({"documents": [{"title": "x"}]}, "documents"),
        ({"documents": ["word " * 9000]}, "documents"),
        ({"top_n": 0}, "top_n"),
        ({"max_chunks_per_doc": 1}, "max_chunks_per_doc"),
    ],
)
def test_invalid_rerank_request_is_named(client, fields, param):
    with pytest.raises(openai.BadRequestError) as refusal:
        rerank(client, **{"query": "x", "documents": ["y"], **fields})
    assert (refusal.value.param or "").startswith(param)


def test_embeddings_without_a_model_come_from_one_that_can(client):
    answer = client.post("/embeddings", body={"input": "x"}, cast_to=httpx.Response).json()
    assert answer["model"] == "smollm2-135m"
