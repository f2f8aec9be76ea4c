"""Events have an `id:` where somebody asks for it: several clients of OpenAI fail at one."""

from collections.abc import Iterator

import httpx
import pytest

from tests.api.event_stream import read_events
from tests.api.users import program, sign_up
from tests.support.scripted import ScriptedProduct

CHAT = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
COMPLETION = {"model": "auto", "prompt": "Hi", "stream": True}
NUMBERED = {"Last-Event-ID": "0"}


@pytest.fixture(scope="module")
def client(scripted_product: ScriptedProduct) -> Iterator[httpx.Client]:
    scripted_product.says("one two three")
    person = sign_up(scripted_product.url)
    with program(scripted_product.url, person.new_key()["secret"]) as client:
        yield client


def kinds(answer: httpx.Response) -> set[str]:
    """The fields of the stream's lines."""
    assert answer.status_code == 200, answer.text
    return {line.partition(":")[0] for line in answer.text.splitlines() if line}


@pytest.mark.parametrize(
    ("path", "body"), [("/v1/chat/completions", CHAT), ("/v1/completions", COMPLETION)]
)
def test_program_gets_data_lines_alone(client: httpx.Client, path: str, body: object) -> None:
    assert kinds(client.post(path, json=body)) == {"data"}
    assert kinds(client.post(path, json=body, headers=NUMBERED)) == {"id", "data"}
    assert kinds(client.post(path, json=body, params={"after": "0"})) == {"id", "data"}


def test_page_gets_ids(client: httpx.Client) -> None:
    assert kinds(client.post("/api/chat/completions", json=CHAT)) == {"id", "data"}


def test_program_comes_back_for_what_follows(client: httpx.Client) -> None:
    """A reader resumes by the ids that it asked for, or by the number of events that it has."""
    whole = client.post("/v1/chat/completions", json=CHAT, headers=NUMBERED)
    events = read_events(whole.text)
    assert [event.id for event in events] == [str(n + 1) for n in range(len(events))]
    path = f"/api/generations/{whole.headers['X-Parley-Generation-Id']}/events"
    assert read_events(client.get(path, headers={"Last-Event-ID": "2"}).text) == events[2:]
    assert read_events(client.get(path, params={"after": "2"}).text) == events[2:]


def test_repeated_stream_is_the_stream_that_was_asked_for(client: httpx.Client) -> None:
    for headers in ({}, NUMBERED):
        key = {"Idempotency-Key": f"stream-{len(headers)}"}
        first, again = (
            client.post("/v1/chat/completions", json=CHAT, headers={**headers, **key})
            for _ in range(2)
        )
        assert again.headers["Idempotent-Replayed"] == "true"
        assert again.text == first.text
        assert ("id: 1\n" in again.text) == bool(headers)
