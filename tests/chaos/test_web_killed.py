"""A web process that dies, hangs or is told to go in the middle of an answer loses nothing."""

import os
import signal
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx
import orjson
import pytest

from billing.quantities import TOKEN_COLUMNS
from infra.load.upstream import words
from tests.api.event_stream import read_events, text_of
from tests.api.users import program
from tests.chaos.conftest import ANSWER_TOKENS, Site, whole_answer
from tests.chaos.reader import Wire
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

STREAMED = {
    "model": "auto",
    "messages": [{"role": "user", "content": "Say words."}],
    "max_tokens": ANSWER_TOKENS,
    "stream": True,
}


def test_answer_is_failed_over_when_its_process_is_killed(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site(webs=2)
    wire = Wire()
    generation_id = site.ask(wire, until=12, web=0)

    site.product.webs[0].process.kill()
    site.resume(generation_id, wire, web=1)

    whole_answer(wire)
    site.check_accounts(generation_id, wire)
    # It was continued, not generated again: the upstream was asked for the rest only.
    assert [served.path for served in site.upstream.served] == ["/v1/chat/completions"] * 2
    continued = site.upstream.served[1].body
    assert continued["continue_final_message"] is True
    assert wire.text.startswith(continued["messages"][-1]["content"])


def test_response_is_failed_over_when_its_process_is_killed(
    start_site: Callable[..., Site[Product]],
) -> None:
    """Its events go on at the next number, and what is read, stored and billed is the same."""
    site = start_site(webs=2)
    headers = {"Authorization": f"Bearer {site.person.new_key()['secret']}"}
    body = {"model": "auto", "input": "Say words.", "stream": True}
    events: list[dict[str, Any]] = []

    def read(response: httpx.Response, until: int | None = None) -> None:
        assert response.status_code == 200, response.read()
        for line in response.iter_lines():
            if line.startswith("data: "):
                events.append(orjson.loads(line[6:]))
                if len(events) == until:
                    return

    first, second = (f"{url}/v1/responses" for url in site.product.urls)
    with httpx.stream("POST", first, json=body, headers=headers, timeout=60) as response:
        read(response, until=12)
        site.product.webs[0].process.kill()
    own = f"{second}/{events[0]['response']['id']}"
    rest = f"{own}?stream=true&starting_after={events[-1]['sequence_number']}"
    with httpx.stream("GET", rest, headers=headers, timeout=60) as response:
        read(response)

    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    text = "".join(one["delta"] for one in events if one["type"] == "response.output_text.delta")
    last = events[-1]["response"]
    assert text == words(0, ANSWER_TOKENS) == last["output"][0]["content"][0]["text"]
    assert httpx.get(own, headers=headers).json() == last
    [billed] = site.product.rows(
        "SELECT output_tokens FROM billing_usagerecord WHERE organization_id = %s",
        [site.person.organization_id],
    )
    assert billed["output_tokens"] == last["usage"]["output_tokens"] == ANSWER_TOKENS


def test_batch_goes_on_elsewhere_and_bills_no_line_twice(
    start_site: Callable[..., Site[Product]],
) -> None:
    """The process that answers its lines is killed, twice, and so is the one that takes over."""
    site = start_site(webs=2)
    site.upstream.behaviour.rate = 16.0
    body: dict[str, Any] = {"model": "auto", "max_tokens": 32}
    body["messages"] = [{"role": "user", "content": "Say words."}]
    lines = [
        {"custom_id": str(n), "method": "POST", "url": "/v1/chat/completions", "body": body}
        for n in range(12)
    ]
    text = "\n".join(orjson.dumps(line).decode() for line in lines)
    headers = {"Authorization": f"Bearer {site.person.new_key()['secret']}"}
    first, second = (
        httpx.Client(base_url=url, headers=headers, timeout=60) for url in site.product.urls
    )
    with first, second:
        file = second.post("/v1/files", files={"file": ("in", text)}, data={"purpose": "batch"})
        asked = {"input_file_id": file.json()["id"], "completion_window": "24h"}
        asked["endpoint"] = "/v1/chat/completions"
        batch = second.post("/v1/batches", json=asked).json()
        until(lambda: len(site.upstream.served) >= 3)
        site.product.webs[0].process.kill()
        site.product.webs[0].process.start()
        site.product.wait_until_ready(site.product.webs[0])
        site.product.webs[1].process.kill()
        done = until(lambda: _ended_batch(first, batch["id"]))
        answers = first.get(f"/v1/files/{done['output_file_id']}/content").text.splitlines()
    assert done["status"] == "completed"
    assert done["request_counts"] == {"total": 12, "completed": 12, "failed": 0}
    said = [orjson.loads(answer) for answer in answers]
    assert [one["custom_id"] for one in said] == [str(n) for n in range(12)]
    bodies = [one["response"]["body"] for one in said]
    assert {body["choices"][0]["message"]["content"] for body in bodies} == {words(0, 32)}
    billed = site.product.rows(
        "SELECT * FROM billing_usagerecord WHERE organization_id = %s",
        [site.person.organization_id],
    )
    # What was answered is billed, each line once and nothing beside it. A generation whose process
    # was killed before any engine was asked for it has a record too, which costs nothing.
    charged = {row["generation_id"]: row for row in billed if any(row[n] for n in TOKEN_COLUMNS)}
    used = {UUID(body["id"].removeprefix("chatcmpl-")): body["usage"] for body in bodies}
    assert len(used) == len(said) and set(charged) == set(used)
    for generation_id, row in charged.items():
        usage = used[generation_id]
        assert row["output_tokens"] == usage["completion_tokens"] == 32
        assert row["input_tokens"] == usage["prompt_tokens"]
        assert row["state"] == "completed"
    free = [row for row in billed if row["generation_id"] not in charged]
    assert all((row["state"], row["pool"]) == ("failed", "") for row in free)
    assert all(row["model"].endswith(":batch") for row in billed)


def _ended_batch(client: httpx.Client, batch_id: str) -> dict[str, Any] | None:
    found: dict[str, Any] = client.get(f"/v1/batches/{batch_id}").json()
    return found if found["status"] in {"completed", "failed", "expired"} else None


def until(condition: Callable[[], Any]) -> Any:
    """What `condition` gives, once that is true."""
    deadline = time.monotonic() + 90
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


def test_answer_continues_when_the_only_process_is_killed_and_restarted(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site()
    wire = Wire()
    generation_id = site.ask(wire, until=12)

    web = site.product.webs[0]
    web.process.kill()
    web.process.start()
    site.product.wait_until_ready(web)
    site.resume(generation_id, wire)

    whole_answer(wire)
    site.check_accounts(generation_id, wire)


def test_superseded_process_neither_writes_nor_bills(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site(webs=2)
    wire = Wire()
    generation_id = site.ask(wire, until=12, web=0)
    slow = site.product.webs[0].process.pid

    os.kill(slow, signal.SIGSTOP)
    site.resume(generation_id, wire, web=1)
    os.kill(slow, signal.SIGCONT)
    time.sleep(3)  # for it to find out, and to try what it must not

    whole_answer(wire)
    site.check_accounts(generation_id, wire)
    again = Wire()
    site.resume(generation_id, again, web=0)
    assert again.events == wire.events


def test_draining_process_hands_its_answers_over(start_site: Callable[..., Site[Product]]) -> None:
    site = start_site(webs=2)
    wire = Wire()
    generation_id = site.ask(wire, until=12, web=0)

    site.product.webs[0].process.stop()
    site.resume(generation_id, wire, web=1)

    whole_answer(wire)
    site.check_accounts(generation_id, wire)


def test_retry_finds_the_generation_when_its_process_was_killed(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site(webs=2)
    first, second = site.product.webs
    secret = str(site.person.new_key()["secret"])
    key = {"Idempotency-Key": "once"}
    with (
        program(first.url, secret) as client,
        client.stream("POST", "/v1/chat/completions", json=STREAMED, headers=key) as running,
    ):
        lines = running.iter_lines()
        beginning = [next(lines) for _ in range(9)]
        first.process.kill()

    with program(second.url, secret) as client:
        retried = _retry(client, key)

    assert retried.text.split("\n")[:9] == beginning
    assert text_of(read_events(retried.text)) == words(0, ANSWER_TOKENS)
    [row] = site.product.rows(
        "SELECT g.state, g.output_tokens, u.output_tokens AS billed"
        " FROM generation_generation g JOIN billing_usagerecord u ON u.generation_id = g.id"
        " WHERE g.organization_id = %s",
        [site.person.organization_id],
    )
    assert row == {"state": "completed", "output_tokens": ANSWER_TOKENS, "billed": ANSWER_TOKENS}


def _retry(client: httpx.Client, key: dict[str, str]) -> httpx.Response:
    """As a client does it: again while the first is still being carried out."""
    deadline = time.monotonic() + 40
    while True:
        answer = client.post("/v1/chat/completions", json=STREAMED, headers=key)
        if answer.status_code != 409:
            assert answer.status_code == 200, answer.text
            return answer
        assert answer.json()["error"]["code"] == "idempotency_key_in_use"
        assert time.monotonic() < deadline
        time.sleep(float(answer.headers["Retry-After"]))
