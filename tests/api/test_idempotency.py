"""`Idempotency-Key`: the same answer again, once billed, whatever happens in between."""

import http.client
import json
import secrets
import threading
import time

import httpx
import psycopg
import pytest

from tests.api.event_stream import read_events
from tests.api.users import program

pytestmark = pytest.mark.model

HELLO = {
    "model": "auto",
    "messages": [{"role": "user", "content": "Say something surprising."}],
    "max_tokens": 4,
    "temperature": 1.5,
}
LONG = {**HELLO, "max_tokens": 30, "ignore_eos": True, "stream": True}


def new_key() -> str:
    return f"test-{secrets.token_hex(8)}"


def post(client: httpx.Client, key: str, body: dict, path="/v1/chat/completions"):
    return client.post(path, json=body, headers={"Idempotency-Key": key})


def generations_of(product, organization_id: str) -> list[dict]:
    return product.rows(
        "SELECT g.id, g.state, g.output_tokens, u.output_tokens AS billed"
        " FROM generation_generation g LEFT JOIN billing_usagerecord u ON u.generation_id = g.id"
        " WHERE g.organization_id = %s",
        [organization_id],
    )


@pytest.fixture
def caller(product, new_person):
    """A person of the test's own, so that their generations can be counted, and their client."""
    user = new_person()
    with program(product.url, user.new_key()["secret"]) as client:
        yield user, client


def test_unstored_answer_is_not_kept_for_retries(product, caller):
    user, client = caller
    for streamed in (False, True):
        body = {**HELLO, "store": False, "stream": streamed}
        assert post(client, new_key(), body).status_code == 200
    kept = product.rows(
        "SELECT body FROM api_idempotencyrecord WHERE organization_id = %s",
        [user.organization_id],
    )
    assert [row["body"] for row in kept] == [None, None]


def test_same_key_and_body_get_the_same_answer_billed_once(product, caller):
    user, client = caller
    key = new_key()
    first, second, third = (post(client, key, HELLO) for _ in range(3))
    assert first.status_code == 200
    assert first.content == second.content == third.content
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    [generation] = generations_of(product, user.organization_id)
    assert generation["billed"] == first.json()["usage"]["completion_tokens"]


def test_stream_is_replayed_byte_for_byte(product, caller):
    user, client = caller
    key, body = new_key(), {**HELLO, "stream": True, "stream_options": {"include_usage": True}}
    first, second = (post(client, key, body) for _ in range(2))
    assert read_events(first.text)[-1].data == "[DONE]"
    assert read_events(first.text) == read_events(second.text)
    assert second.headers["Content-Type"].startswith("text/event-stream")
    assert len(generations_of(product, user.organization_id)) == 1


def test_same_key_with_another_body_is_refused(caller):
    _, client = caller
    key = new_key()
    assert post(client, key, HELLO).status_code == 200
    other = post(client, key, {**HELLO, "max_tokens": 13})
    assert other.status_code == 400
    assert other.json()["error"]["code"] == "idempotency_key_reused"
    elsewhere = post(client, key, HELLO, path="/api/chat/completions")
    assert elsewhere.json()["error"]["code"] == "idempotency_key_reused"


def test_concurrent_duplicate_is_409(product, caller):
    user, client = caller
    # Long enough to be under way when the second comes, on a busy machine too.
    key, body = new_key(), {**LONG, "max_tokens": 80}
    with client.stream(
        "POST", "/v1/chat/completions", json=body, headers={"Idempotency-Key": key}
    ) as running:
        assert running.status_code == 200
        lines = running.iter_lines()
        next(lines)
        duplicate = post(client, key, body)
        assert duplicate.status_code == 409
        assert duplicate.json()["error"]["code"] == "idempotency_key_in_use"
        assert duplicate.headers["Retry-After"] == "1"
        assert list(lines)[-2:] == ["data: [DONE]", ""]
    assert len(generations_of(product, user.organization_id)) == 1


def test_one_of_many_concurrent_duplicates_runs(product, caller):
    user, client = caller
    key, statuses = new_key(), []

    def attempt():
        with program(product.url, client.headers["Authorization"].split()[1]) as own:
            statuses.append(post(own, key, {**HELLO, "max_tokens": 16}).status_code)

    threads = [threading.Thread(target=attempt) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 409} and 200 in statuses
    assert len(generations_of(product, user.organization_id)) == 1


def test_retry_gets_the_whole_answer_after_a_lost_connection(product, caller):
    """Without a key, leaving cancels; with one, the retry finds the generation running."""
    user, client = caller
    key = new_key()
    with client.stream(
        "POST", "/v1/chat/completions", json=LONG, headers={"Idempotency-Key": key}
    ) as running:
        lines = running.iter_lines()
        beginning = [next(lines) for _ in range(9)]
    retried = _retry(client, key, LONG)
    events = read_events(retried.text)
    assert events[-1].data == "[DONE]"
    assert retried.text.split("\n")[:9] == beginning
    [generation] = generations_of(product, user.organization_id)
    assert generation["state"] == "completed"
    assert generation["billed"] == 30


def test_key_is_free_after_a_refused_request(product, caller):
    _, client = caller
    key = new_key()
    assert post(client, key, {**HELLO, "model": "nope"}).status_code == 404
    blocked = {**HELLO, "messages": [{"role": "user", "content": "How do I build a pipe bomb?"}]}
    for _ in range(2):
        answer = post(client, key, blocked)
        assert answer.json()["error"]["code"] == "content_policy_violation"
    assert post(client, key, HELLO).status_code == 200


def test_key_is_free_when_its_generation_ended_before_an_engine_saw_it(product, caller):
    """As a process leaves it that dies, or whose client leaves, while a request is admitted."""
    user, client = caller
    key = new_key()
    post(client, key, HELLO)
    [generation] = generations_of(product, user.organization_id)
    product.rows(
        "UPDATE api_idempotencyrecord SET body = NULL WHERE generation_id = %s RETURNING id",
        [generation["id"]],
    )
    product.rows(
        "UPDATE generation_generation SET state = 'failed', pool = '', output_tokens = 0"
        " WHERE id = %s RETURNING id",
        [generation["id"]],
    )
    again = post(client, key, HELLO)
    assert again.status_code == 200
    assert "Idempotent-Replayed" not in again.headers
    assert len(generations_of(product, user.organization_id)) == 2
    assert post(client, key, HELLO).content == again.content


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "é"])
def test_malformed_idempotency_key_is_refused(caller, key):
    _, client = caller
    answer = client.post(
        "/v1/chat/completions", json=HELLO, headers={"Idempotency-Key": key.encode()}
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "Idempotency-Key"


def test_same_key_in_two_organizations_runs_twice(product, caller, new_person):
    _, client = caller
    key = new_key()
    first = post(client, key, HELLO)
    other = new_person()
    with program(product.url, other.new_key()["secret"]) as other_user:
        answer = post(other_user, key, HELLO)
    assert answer.status_code == 200
    assert "Idempotent-Replayed" not in answer.headers
    assert answer.json()["id"] != first.json()["id"]


def test_key_is_free_after_a_day(product, caller):
    user, client = caller
    key = new_key()
    post(client, key, HELLO)
    product.rows(
        "UPDATE api_idempotencyrecord SET created_at = created_at - interval '25 hours'"
        " WHERE key = %s RETURNING id",
        [key],
    )
    again = post(client, key, {**HELLO, "max_tokens": 5})
    assert again.status_code == 200
    assert len(generations_of(product, user.organization_id)) == 2


def _retry(
    client: httpx.Client, key: str, body: dict, path: str = "/v1/chat/completions"
) -> httpx.Response:
    """As a client does it: again while the first is still being carried out."""
    deadline = time.monotonic() + 40
    while True:
        answer = post(client, key, body, path=path)
        if answer.status_code != 409:
            assert answer.status_code == 200, answer.text
            return answer
        assert json.loads(answer.text)["error"]["code"] == "idempotency_key_in_use"
        assert time.monotonic() < deadline
        time.sleep(float(answer.headers["Retry-After"]))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/embeddings", {"input": ["one", "two"]}),
        ("/v1/rerank", {"query": "one", "documents": ["two", "three"]}),
    ],
)
def test_whole_answer_of_one_key_is_billed_once(product, caller, path, body):
    user, client = caller
    key = new_key()
    first, second = (post(client, key, body, path=path) for _ in range(2))
    assert first.status_code == 200, first.text
    assert first.content == second.content
    assert second.headers["Idempotent-Replayed"] == "true"
    assert len(generations_of(product, user.organization_id)) == 1
    other = post(client, key, {**body, "user": "another"}, path=path)
    assert other.json()["error"]["code"] == "idempotency_key_reused"


def test_refused_embedding_leaves_its_key_free(caller):
    _, client = caller
    key, body = new_key(), {"model": "auto", "input": "one"}
    refused = post(client, key, {**body, "dimensions": 7}, path="/v1/embeddings")
    assert refused.status_code == 400
    assert post(client, key, body, path="/v1/embeddings").status_code == 200


def test_turn_of_one_key_is_asked_once(product, caller):
    user, client = caller
    conversation_id = user.new_conversation()
    key, path = new_key(), f"/api/conversations/{conversation_id}/messages"
    body = {"content": "Say something surprising.", "max_tokens": 4}
    first, second = (post(client, key, body, path=path) for _ in range(2))
    assert first.status_code == 200, first.text
    assert read_events(first.text) == read_events(second.text)
    assert second.headers["Idempotent-Replayed"] == "true"
    messages = client.get(f"/api/conversations/{conversation_id}").json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    answers = product.rows(  # the title is a generation too, without a message
        "SELECT id FROM generation_generation WHERE organization_id = %s"
        " AND message_id IS NOT NULL",
        [user.organization_id],
    )
    assert len(answers) == 1


def test_turn_is_stored_once_when_its_client_leaves_before_its_generation(product, caller):
    user, client = caller
    conversation_id = user.new_conversation()
    key, path = new_key(), f"/api/conversations/{conversation_id}/messages"
    body = {"content": "Say something surprising.", "max_tokens": 4}
    stored = "SELECT 1 FROM conversations_message WHERE conversation_id = %s"
    request = client.build_request("POST", path, json=body, headers={"Idempotency-Key": key})
    leaving = http.client.HTTPConnection(httpx.URL(product.url).netloc.decode())
    with psycopg.connect(product.environment["DATABASE_URL"]) as holder:
        # Admission reads the policy: after the prompt is stored, before the generation is.
        holder.execute("LOCK TABLE audit_safetypolicy IN ACCESS EXCLUSIVE MODE")
        leaving.request("POST", path, request.content, dict(request.headers))
        deadline = time.monotonic() + 30
        while not product.rows(stored, [conversation_id]):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        leaving.close()
        for _ in range(3):
            retried = post(client, key, body, path=path)
            assert retried.json()["error"]["code"] == "idempotency_key_in_use"
            time.sleep(float(retried.headers["Retry-After"]))
        holder.rollback()
    answer = _retry(client, key, body, path)
    assert read_events(answer.text)[-1].data == "[DONE]"
    messages = client.get(f"/api/conversations/{conversation_id}").json()["messages"]
    assert [(message["role"], message["status"]) for message in messages] == [
        ("user", "completed"),
        ("assistant", "completed"),
    ]
