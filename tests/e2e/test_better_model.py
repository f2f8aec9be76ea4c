"""The page shows a better model on its way, and takes it as the default without a reload."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.users import Person, Visitor
from tests.support.launched import LaunchedProduct
from tests.support.model_sources import Sources, launched, write_spec

pytestmark = [pytest.mark.model, pytest.mark.timeout(480)]


@pytest.fixture(scope="module")
def sources(model_file: Path) -> Iterator[Sources]:
    """A hub from which the model takes some minutes, until the test lets it go on."""
    made = Sources()
    made.add_to_hub(model_file.read_bytes())
    made.served.bytes_a_second = 3_000_000
    yield made
    made.close()


@pytest.fixture(scope="module")
def product(model_file: Path, scratch: Path, sources: Sources) -> Iterator[LaunchedProduct]:
    spec = write_spec(scratch / "page-spec", model_file.read_bytes())
    made = launched(scratch / "page", model_file, str(spec), sources.environment())
    made.start()
    yield made
    made.stop()


def test_progress_is_seen_and_the_default_changes_without_a_reload(
    browser: Browser, product: LaunchedProduct, sources: Sources
) -> None:
    person = Person(Visitor(browser, product.url))
    page = person.page
    person.open("/")
    picker = page.get_by_role("button", name=re.compile("^Model:"))
    expect(picker).to_have_accessible_name("Model: SmolLM2 135M Instruct")
    progress = page.get_by_role("progressbar", name="Fetching Large model of the tests")
    expect(progress).to_be_visible()
    expect(page.get_by_text(re.compile(r"Large model of the tests: \d+ %"))).to_be_visible()
    page.evaluate("window.neverReloaded = true")

    sources.served.bytes_a_second = 0
    expect(picker).to_have_accessible_name("Model: Large model of the tests", timeout=120_000)
    expect(page.get_by_text("is ready, and answers new chats.")).to_be_visible()
    expect(progress).to_be_hidden()
    assert page.evaluate("window.neverReloaded") is True
    picker.click()
    expect(page.get_by_text("Made by the tests. License: Apache-2.0.")).to_be_visible()
    page.keyboard.press("Escape")

    person.ask("Say hello.")
    assert person.stored()[-1]["model"] == "test-large"
    person.visitor.leave()


def test_reason_is_shown_where_it_does_not_come(
    browser: Browser, model_file: Path, scratch: Path
) -> None:
    product = launched(scratch / "page-small", model_file, "small", {})
    product.start()
    try:
        person = Person(Visitor(browser, product.url))
        person.open("/")
        person.page.get_by_role("button", name=re.compile("^Model:")).click()
        note = "Qwen2.5 Coder 1.5B is not served: MODEL=small was asked for."
        expect(person.page.get_by_text(note)).to_be_visible()
        person.visitor.leave()
    finally:
        product.stop()
