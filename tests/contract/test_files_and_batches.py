"""Files, uploads and batches with OpenAI's own client, answered by the real model."""

import io
import json
import time
import uuid
from typing import Any

import openai
import pytest

from tests.contract.conftest import Person, Product

MODEL = "smollm2-135m"
pytestmark = pytest.mark.model
CHAT: Any = "/v1/chat/completions"


def line(custom_id: str, url: str = CHAT, **body: Any) -> dict[str, Any]:
    asked = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 5}
    body = {"model": MODEL, **(asked if url == CHAT and "messages" not in body else {}), **body}
    return {"custom_id": custom_id, "method": "POST", "url": url, "body": body}


def stored(client: openai.OpenAI, lines: list[Any]) -> str:
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
    return client.files.create(file=("in.jsonl", text.encode()), purpose="batch").id


def begun(client: openai.OpenAI, lines: list[Any], endpoint: Any = CHAT, **fields: Any) -> Any:
    return client.batches.create(
        input_file_id=stored(client, lines),
        endpoint=endpoint,
        completion_window="24h",
        **fields,
    )


def ended(client: openai.OpenAI, batch_id: str) -> Any:
    deadline = time.monotonic() + 90
    while (found := client.batches.retrieve(batch_id)).status in {
        *("validating", "in_progress", "finalizing", "cancelling"),
    }:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


def lines_of(client: openai.OpenAI, file_id: str | None) -> dict[str, Any]:
    if file_id is None:
        return {}
    text = client.files.content(file_id).text
    return {one["custom_id"]: one for one in map(json.loads, text.splitlines())}


def test_part_of_a_file_is_read(client: openai.OpenAI) -> None:
    stored = client.files.create(file=("a.jsonl", b"0123456789"), purpose="batch")
    part = client.files.with_raw_response.content(stored.id, extra_headers={"Range": "bytes=4-6"})
    assert (part.status_code, part.content) == (206, b"456")
    assert part.headers["Content-Range"] == "bytes 4-6/10"
    with pytest.raises(openai.APIStatusError) as refused:
        client.files.content(stored.id, extra_headers={"Range": "bytes=10-"})
    assert refused.value.status_code == 416
    assert refused.value.response.headers["Content-Range"] == "bytes */10"


@pytest.fixture(scope="module")
def hook(developer: Person) -> str:
    """An endpoint whose deliveries are looked at, not answered."""
    body = {"url": "https://example.org/hook", "types": ["batch.completed", "batch.failed"]}
    answer = developer.browser.post("/api/webhooks", json=body)
    assert answer.status_code < 300, answer.text
    return str(answer.json()["id"])


def test_lines_are_answered_as_their_endpoint_answers(
    client: openai.OpenAI, product: Product, developer: Person, hook: str
) -> None:
    chat = [
        line("one", temperature=0),
        line("bad", temperature=3),
        line("stream", stream=True),
        "",
        line("two", max_tokens=3, seed=2**62 + 1),
    ]
    begun_now = {
        "chat": begun(client, chat, metadata={"a": "b"}),
        "text": begun(
            client,
            [line("t", "/v1/completions", prompt="One two", max_tokens=4)],
            "/v1/completions",
        ),
        "responses": begun(
            client, [line("r", "/v1/responses", input="Say hello.")], "/v1/responses"
        ),
        "moderations": begun(
            client,
            [
                {
                    "custom_id": "m",
                    "method": "POST",
                    "url": "/v1/moderations",
                    "body": {"input": "Hi"},
                }
            ],
            "/v1/moderations",
        ),
        "embeddings": begun(
            client, [line("e", "/v1/embeddings", input=["One", "Two"])], "/v1/embeddings"
        ),
    }
    assert begun_now["chat"].status == "validating" and begun_now["chat"].id.startswith("batch_")
    done = {name: ended(client, one.id) for name, one in begun_now.items()}
    assert {one.status for one in done.values()} == {"completed"}, done

    first = done["chat"]
    assert (first.request_counts.total, first.request_counts.completed) == (4, 2)
    assert first.request_counts.failed == 2 and first.metadata == {"a": "b"}
    answers = lines_of(client, first.output_file_id)
    assert set(answers) == {"one", "two"}
    said = answers["one"]["response"]
    assert said["status_code"] == 200 and answers["one"]["error"] is None
    alone = client.chat.completions.create(**line("one", temperature=0)["body"])
    assert said["body"]["choices"][0]["message"]["content"] == alone.choices[0].message.content
    errors = lines_of(client, first.error_file_id)
    assert {key: one["response"]["body"]["error"]["param"] for key, one in errors.items()} == {
        "bad": "temperature",
        "stream": "stream",
    }
    text = lines_of(client, done["text"].output_file_id)["t"]["response"]["body"]
    assert text["object"] == "text_completion" and text["usage"]["completion_tokens"] == 4
    response = lines_of(client, done["responses"].output_file_id)["r"]["response"]["body"]
    assert client.responses.retrieve(response["id"]).model_dump(exclude_none=True)["output"]
    moderated = lines_of(client, done["moderations"].output_file_id)["m"]["response"]["body"]
    assert moderated["results"][0]["flagged"] is False
    vectors = lines_of(client, done["embeddings"].output_file_id)["e"]["response"]["body"]
    assert len(vectors["data"]) == 2

    # Billed once, under the batch's own price; the rate limits knew nothing of it.
    billed = product.rows(
        "SELECT count(*) AS records, count(DISTINCT generation_id) AS ids,"
        " sum(output_tokens) AS out"
        " FROM billing_usagerecord WHERE organization_id = %s AND model = %s",
        [developer.organization_id, f"{MODEL}:batch"],
    )
    # Two chats, a completion, a response and an embedding.
    assert (billed[0]["records"], billed[0]["ids"]) == (5, 5)
    counted = [
        answers["one"]["response"]["body"]["usage"]["completion_tokens"],
        answers["two"]["response"]["body"]["usage"]["completion_tokens"],
        text["usage"]["completion_tokens"],
        response["usage"]["output_tokens"],
    ]
    assert billed[0]["out"] == sum(counted)
    left = product.rows(
        "SELECT count(*) AS n FROM api_batchline WHERE batch_id = %s",
        [str(uuid.UUID(first.id.removeprefix("batch_")))],
    )
    assert left[0]["n"] == 0
    sent = product.rows(
        "SELECT payload FROM billing_webhookdelivery WHERE endpoint_id = %s", [hook]
    )
    assert first.id in {row["payload"]["data"]["id"] for row in sent}
    assert next(iter(client.batches.list(limit=1))).id in {one.id for one in done.values()}


@pytest.mark.parametrize(
    ("lines", "code", "number"),
    [
        ([line("a"), "{"], "invalid_json", 2),
        ([line("a"), line("b", "/v1/embeddings", input="x")], "invalid_url", 2),
        ([line("a"), {**line("b"), "method": "GET"}], "invalid_method", 2),
        ([line("a"), line("b"), line("a")], "duplicate_custom_id", None),
        ([line("a"), line("b", model="other")], "mismatched_model", 2),
        ([line("a", model="nothing")], "model_not_found", 1),
        (["\n"], "empty_file", None),
    ],
)
def test_file_that_is_no_batch_fails_before_anything_runs(
    client: openai.OpenAI, lines: list[Any], code: str, number: int | None
) -> None:
    failed = ended(client, begun(client, lines).id)
    assert failed.status == "failed" and failed.output_file_id is None
    problem = failed.errors.data[0]
    assert (problem.code, problem.line) == (code, number), problem


def test_cancelled_batch_keeps_what_was_answered(client: openai.OpenAI) -> None:
    lines = [line(str(n), max_tokens=8, temperature=1.0) for n in range(100)]
    made = begun(client, lines)
    while client.batches.retrieve(made.id).status == "validating":
        time.sleep(0.1)
    assert client.batches.cancel(made.id).status in {"cancelling", "cancelled"}
    gone = ended(client, made.id)
    assert gone.status == "cancelled" and gone.request_counts.total == 100
    answered = lines_of(client, gone.output_file_id)
    closed = lines_of(client, gone.error_file_id)
    assert len(answered) + len(closed) == 100 and closed
    assert {one["error"]["code"] for one in closed.values()} == {"batch_cancelled"}
    assert client.batches.cancel(made.id).status == "cancelled"


def test_file_comes_in_parts(client: openai.OpenAI) -> None:
    text = "\n".join(json.dumps(line(str(n))) for n in range(50)).encode()
    upload = client.uploads.create(
        filename="../in.jsonl", purpose="batch", bytes=len(text), mime_type="application/jsonl"
    )
    assert upload.status == "pending"
    parts = [
        client.uploads.parts.create(upload.id, data=io.BytesIO(text[at : at + 3000])).id
        for at in range(0, len(text), 3000)
    ]
    with pytest.raises(openai.BadRequestError) as refusal:
        client.uploads.parts.create(upload.id, data=io.BytesIO(b"more"))
    assert refusal.value.param == "data"
    for wrong, param in ((parts[:-1], "part_ids"), ([*parts[:-1], "part_x"], "part_ids[")):
        with pytest.raises(openai.BadRequestError) as refusal:
            client.uploads.complete(upload.id, part_ids=wrong)
        assert str(refusal.value.param).startswith(param)
    with pytest.raises(openai.BadRequestError):
        client.uploads.complete(upload.id, part_ids=parts, md5="0" * 32)
    whole = client.uploads.complete(upload.id, part_ids=parts)
    assert whole.status == "completed" and whole.file is not None
    assert whole.file.filename == "in.jsonl"
    assert client.files.content(whole.file.id).content == text
    with pytest.raises(openai.ConflictError):
        client.uploads.cancel(upload.id)
    listed = client.files.list(purpose="batch", limit=1)
    assert listed.data[0].id == whole.file.id
    client.files.delete(whole.file.id)
    with pytest.raises(openai.NotFoundError):
        client.files.content(whole.file.id)


def test_other_purposes_and_windows_are_refused_by_name(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refusal:
        client.files.create(file=("a", b"x"), purpose="assistants")
    assert refusal.value.param == "purpose"
    with pytest.raises(openai.NotFoundError):
        client.batches.create(
            input_file_id=f"file-{uuid.uuid4().hex}", endpoint=CHAT, completion_window="24h"
        )
    with pytest.raises(openai.BadRequestError) as refusal:
        client.batches.create(input_file_id="file-1", endpoint=CHAT, completion_window="1h")
    assert refusal.value.param == "completion_window"
