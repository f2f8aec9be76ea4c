"""A model ends under its callers: who asked before, and has answers stored, gets that answer."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.users import Person, program, sign_up
from tests.support.compared_models import compared_models, end, says
from tests.support.product import Product
from tests.support.scripted import ScriptedProduct
from tests.support.upstream import UpstreamThread

QUESTION = "How many hills has Rome?"


@pytest.fixture
def alder(scripted_product: ScriptedProduct) -> Iterator[UpstreamThread]:
    """Of a model by this name, which the test may end."""
    with compared_models(scripted_product) as upstreams:
        says(upstreams["alder"], "Seven hills.")
        yield upstreams["alder"]


def new_person(product: Product, answer_cache: str) -> tuple[Person, httpx.Client]:
    """Somebody in an organization that has answers stored like this, and their program."""
    person = sign_up(product.url)
    body = {"shares_running": True, "answer_cache": answer_cache, "answer_cache_s": 600}
    answer = person.browser.put("/api/data-policy/reuse", json=body)
    assert answer.status_code == 200, answer.text
    return person, program(product.url, str(person.new_key()["secret"]))


def ask(client: httpx.Client, cache_control: str = "", **options: Any) -> httpx.Response:
    messages = [{"role": "user", "content": QUESTION}]
    body = {"model": "alder", "messages": messages, "temperature": 0, "max_tokens": 20}
    headers = {"Cache-Control": cache_control} if cache_control else {}
    return client.post("/v1/chat/completions", json={**body, **options}, headers=headers)


def test_stored_answer_is_given_when_the_model_has_ended(
    scripted_product: ScriptedProduct, alder: UpstreamThread
) -> None:
    product = scripted_product
    person, client = new_person(product, "exact")
    other, outsider = new_person(product, "exact")
    careful, without = new_person(product, "off")
    computed = ask(client)
    assert computed.headers["x-cache"] == "miss"
    assert ask(without).status_code == 200
    end(product, "alder", alder)

    given = ask(client)
    assert given.status_code == 200, given.text
    assert (given.headers["x-cache"], given.json()["model"]) == ("outage", "alder")
    assert given.json()["choices"] == computed.json()["choices"]
    usage = given.json()["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] > 0
    assert usage["completion_tokens_details"]["cached_tokens"] == usage["completion_tokens"] > 0
    streamed = ask(client, stream=True)
    assert streamed.headers["x-cache"] == "outage"
    assert '"content":"Seven' in streamed.text and streamed.text.endswith("data: [DONE]\n\n")
    rows = product.rows(
        "SELECT output_tokens, cached_output_tokens, input_tokens, cached_input_tokens"
        " FROM billing_usagerecord WHERE organization_id = %s ORDER BY occurred_at",
        [person.organization_id],
    )
    assert [row["cached_output_tokens"] for row in rows] == [0, 2, 2]
    assert all(row["cached_input_tokens"] == row["input_tokens"] for row in rows[1:])

    for refused in (
        ask(outsider),
        ask(without),
        ask(client, max_tokens=21),
        ask(client, temperature=0.5),
        ask(client, cache_control="no-cache"),
    ):
        assert refused.status_code == 503, refused.text
        assert refused.json()["error"]["code"] == "overloaded"
        assert int(refused.headers["retry-after"]) > 0
    for one in (person.browser, other.browser, careful.browser, client, outsider, without):
        one.close()
