"""Where the time of an answer went: `Server-Timing`, and what is stored of each generation."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from backend.generation.stations import STATIONS
from tests.api.event_stream import read_events
from tests.api.users import Person, sign_up
from tests.support.scripted import ScriptedProduct

_METRIC = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+);dur=([0-9.]+(?:e-[0-9]+)?)\Z")
TEXT = "Salt is a mineral that dissolves in water and keeps food from going bad."


@pytest.fixture
def author(scripted_product: ScriptedProduct) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


@pytest.fixture
def program(author: Person) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {author.new_key()['secret']}"}
    with httpx.Client(base_url=str(author.browser.base_url), headers=headers, timeout=60) as client:
        yield client


def timing_of(answer: httpx.Response) -> dict[str, float]:
    """`Server-Timing` by the W3C's grammar: metrics with a duration, no name twice."""
    found = [_METRIC.match(part.strip()) for part in answer.headers["server-timing"].split(",")]
    assert all(found), answer.headers["server-timing"]
    names = [match[1] for match in found if match]
    assert len(set(names)) == len(names)
    return {match[1]: float(match[2]) for match in found if match}


def row_of(product: ScriptedProduct, answer: httpx.Response) -> dict[str, Any]:
    generation_id = answer.headers["x-parley-generation-id"]
    query = "SELECT * FROM generation_generation WHERE id = %s"
    [row] = product.rows(query, [generation_id])
    return row


def test_whole_answer_says_how_long_each_station_took(
    program: httpx.Client, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says(TEXT, rate=40)
    body = {"model": "auto", "messages": [{"role": "user", "content": "What is salt?"}]}
    answer = program.post("/v1/chat/completions", json=body)
    timing = timing_of(answer)
    total = timing.pop("total")
    assert list(timing) == list(STATIONS)
    assert sum(timing.values()) <= total
    # 14 words at 40 a second.
    assert timing["decode"] > 250

    row = row_of(scripted_product, answer)
    assert row["stations"] == timing
    assert sum(timing.values()) > 0.8 * row["duration_ms"]


def test_stream_says_what_is_known_with_its_headers(
    program: httpx.Client, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says(TEXT)
    messages = [{"role": "user", "content": "What is salt?"}]
    body = {"model": "auto", "messages": messages, "stream": True}
    answer = program.post("/v1/chat/completions", json=body)
    timing = timing_of(answer)
    assert {"edge", "admission", "pre_check", "queue", "total"} <= set(timing)
    assert "decode" not in timing
    assert sum(timing.values()) - timing["total"] <= timing["total"]
    assert list(row_of(scripted_product, answer)["stations"]) != []


def test_answers_without_a_generation_say_how_long_they_took(
    author: Person, program: httpx.Client
) -> None:
    assert list(timing_of(author.browser.get("/api/me"))) == ["total"]
    refused = program.post("/v1/chat/completions", json={"model": "auto"})
    assert refused.status_code == 400
    assert list(timing_of(refused)) == ["total"]


def test_page_shows_the_stations_to_the_owner_of_an_answer_alone(
    author: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says(TEXT)
    path = f"/api/conversations/{author.new_conversation()}/messages"
    answer = author.browser.post(path, json={"content": "What is salt, on the page?"})
    message_id = read_events(answer.text)[0].json["parley"]["message_id"]
    sent = author.browser.get(f"/api/messages/{message_id}/sent")
    stations = sent.json()["stations"]
    assert list(stations) == list(STATIONS)
    assert stations == row_of(scripted_product, answer)["stations"]
    other = sign_up(scripted_product.url)
    try:
        assert other.browser.get(f"/api/messages/{message_id}/sent").status_code == 404
    finally:
        other.browser.close()
