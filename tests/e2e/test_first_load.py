"""How much a visitor loads before they can sign in."""

import gzip
from collections.abc import Callable

import pytest
from playwright.sync_api import Response, expect

from tests.e2e.users import Visitor

MAX_BYTES = 150 * 1024


@pytest.mark.parametrize("language", ["en", "de", "ar"])
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
