"""Dictation and reading aloud. The browser's microphone plays a tone; what is heard of it says a
model of a few lines (tests/support/tiny_voice.py)."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person
from tests.support.product import Product


@pytest.fixture
def speaker(voice_product: Product, person: Person) -> Person:
    """Somebody whose page knows that there is voice."""
    expect(person.page.get_by_role("button", name="Dictate")).to_be_visible()
    return person


def test_speech_is_dictated_and_answer_is_read_aloud_while_it_comes(speaker: Person) -> None:
    page = speaker.page
    dictate = page.get_by_role("button", name="Dictate")
    dictate.focus()
    page.keyboard.press("Enter")
    meter = page.get_by_role("meter", name="Microphone level")
    expect(meter).to_have_attribute("aria-valuenow", re.compile("^[3-9][0-9]$"))
    assert_accessible(page, "while dictating")
    page.keyboard.press("Escape")
    expect(meter).to_have_count(0)
    field = page.get_by_role("textbox", name="Message")
    expect(field).to_have_value("")

    field.fill("Heard:")
    dictate.click()
    expect(page.get_by_text("0:01")).to_be_visible()
    page.keyboard.press("Enter")  # the button that ends it has the focus
    expect(field).to_have_value(re.compile(r"^Heard: \d+ s of \d+ Hz\.$"))

    for _ in range(4):
        with page.expect_request("**/api/audio/speech") as asked:
            speaker.say("Write a very long story about the sea, with many sentences.")
            page.get_by_role("button", name="Read aloud").click()
        if speaker.stop_button.is_visible():
            break
        speaker.open("/")  # the model has written a short one
    assert speaker.stop_button.is_visible(), "it is read while it is still written"
    assert re.search(r"[.!?:]", json.loads(asked.value.post_data or "")["input"])
    stop = page.get_by_role("button", name="Stop reading")
    expect(stop).to_be_visible()
    speaker.stop()
    expect(stop).to_be_visible()
    assert_accessible(page, "while an answer is read")
    stop.click()
    expect(page.get_by_role("button", name="Read aloud")).to_be_visible()
