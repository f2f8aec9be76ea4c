"""How much a visitor loads before they can sign in, and what a chat loads."""

import gzip
from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Response, expect

from tests.e2e.users import Person, Visitor

MAX_BYTES = 150 * 1024
MAX_BYTES_OF_CONVERSATION = 300 * 1024


LARGEST = (
    "tests/e2e/test_first_load.py::test_sign_in_page_loads_at_most_150_kib_of_compressed_script[ar]"
)
AT_NIGHT = pytest.mark.nightly(beside=LARGEST)


@pytest.mark.parametrize(
    "language", [pytest.param("en", marks=AT_NIGHT), pytest.param("de", marks=AT_NIGHT), "ar"]
)
def test_sign_in_page_loads_at_most_150_kib_of_compressed_script(
    visit: Callable[..., Visitor], language: str
) -> None:
    visitor = visit(locale=language)
    answers: list[Response] = []

    def note(answer: Response) -> None:  # Playwright sets an attribute on what it calls
        answers.append(answer)

    visitor.page.on("response", note)
    visitor.open("/login")
    expect(visitor.page.locator("button[type=submit]")).to_be_visible()
    visitor.page.wait_for_load_state("networkidle")
    scripts = [one for one in answers if one.request.resource_type == "script"]
    assert scripts, "the page has scripts"
    sizes = {one.url: len(gzip.compress(one.body())) for one in scripts}
    assert sum(sizes.values()) <= MAX_BYTES, sizes


def test_conversation_loads_what_its_document_names_and_asks_for_each_answer_once(
    person: Person,
) -> None:
    chat = person.new_conversation("Tides")
    answers: list[Response] = []

    def note(answer: Response) -> None:
        answers.append(answer)

    page = person.page
    page.on("response", note)
    person.open(f"/c/{chat}")
    expect(person.composer).to_be_focused()
    page.wait_for_load_state("networkidle")
    document = next(one for one in answers if one.request.resource_type == "document").text()
    scripts = {one.url: one for one in answers if one.request.resource_type == "script"}
    assert [url for url in scripts if url.rpartition("/")[2] not in document] == []
    sizes = {url: len(gzip.compress(one.body())) for url, one in scripts.items()}
    assert sum(sizes.values()) <= MAX_BYTES_OF_CONVERSATION, sizes

    asked = Counter(one.url.removeprefix(person.visitor.url) for one in answers)
    assert asked["/api/me"] == asked["/api/models"] == 1
    # Again when the socket of events is open: what happened before is known then.
    assert 1 <= asked[f"/api/conversations/{chat}?limit=60"] <= 2
    assert asked["/api/conversations?archived=false&limit=30"] <= 2
