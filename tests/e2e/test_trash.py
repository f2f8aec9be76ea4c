"""The trash: several chats into it and back with one Undo, and out of it for good."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_instructions import PHONE
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

SIZES: dict[str, dict[str, Any]] = {"phone": PHONE, "desktop": {}}


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def chosen(person: Person, *titles: str) -> None:
    for title in titles:
        person.page.get_by_role("checkbox", name=f"Choose {title}").check()


def listed(person: Person, *, deleted: bool = False) -> set[str]:
    path = f"/api/conversations?deleted={str(deleted).lower()}"
    return {row["title"] for row in person.call("GET", path)["data"]}


ON_A_PHONE = "tests/e2e/test_trash.py::test_chats_come_back_by_undo_and_are_deleted_for_good[phone]"


@pytest.mark.parametrize(
    "size", ["phone", pytest.param("desktop", marks=pytest.mark.nightly(beside=ON_A_PHONE))]
)
def test_chats_come_back_by_undo_and_are_deleted_for_good(sign_up: SignUp, size: str) -> None:
    person = sign_up(**SIZES[size])
    page = person.page
    titles = {"Lentil soup", "Bicycle repair", "Tomatoes", "Old plans", "Seeds"}
    for title in titles:
        person.new_conversation(title)
    person.open("/chats")
    main = page.get_by_role("main")

    chosen(person, "Lentil soup", "Tomatoes")
    main.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("In the trash: 2 chats.")).to_be_visible()
    keep_image(page, f"undo-{size}")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Restored: 2 chats.")).to_be_visible()
    expect(main.get_by_role("checkbox", name="Choose Lentil soup")).to_be_visible()
    assert listed(person) == titles

    chosen(person, "Lentil soup", "Tomatoes", "Old plans", "Seeds")
    assert_accessible(page, "your chats")
    keep_image(page, f"chats-{size}")
    main.get_by_role("button", name="Delete").click()
    main.get_by_role("radio", name="Trash").click()
    chosen(person, "Seeds")
    main.get_by_role("button", name="Restore").click()
    expect(main.get_by_role("checkbox", name="Choose Seeds")).to_be_hidden()
    chosen(person, "Tomatoes")
    keep_image(page, f"trash-{size}")
    main.get_by_role("button", name="Delete for good").click()
    asked = page.get_by_role("dialog", name="Delete 1 chat for good?")
    expect(asked).to_contain_text("This can't be undone")
    expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
    keep_image(page, f"for-good-{size}")
    assert_accessible(page, "a deletion for good")
    page.keyboard.press("Enter")  # Cancel
    expect(asked).to_be_hidden()
    assert "Tomatoes" in listed(person, deleted=True)
    main.get_by_role("button", name="Delete for good").click()
    asked.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("Deleted for good: 1 chat.")).to_be_visible()
    expect(asked).to_be_hidden()
    assert listed(person, deleted=True) == {"Lentil soup", "Old plans"}

    main.get_by_role("button", name="Empty trash").click()
    asked = page.get_by_role("dialog", name="Empty the trash?")
    keep_image(page, f"empty-{size}")
    asked.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("Deleted for good: 2 chats.")).to_be_visible()
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
    assert listed(person, deleted=True) == set()
    assert listed(person) == {"Bicycle repair", "Seeds"}


def test_answer_that_is_being_written_keeps_its_chat_in_the_trash(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Well. " * 40, rate=2.0)
    person = sign_up()
    page = person.page
    person.open("/")
    person.say("Take your time")
    person.wait_for_words(1)
    identity = person.conversation_id
    person.go("/chats")
    main = page.get_by_role("main")
    main.get_by_role("checkbox", name="Choose all").check()
    main.get_by_role("button", name="Delete").click()
    main.get_by_role("radio", name="Trash").click()
    main.get_by_role("button", name="Empty trash").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete for good").click()
    left = page.get_by_text("1 chat is still in the trash: an answer is being written in it.")
    expect(left).to_be_visible()
    scripted_product.hurries()
    ended = "SELECT status, text FROM conversations_message WHERE conversation_id = %s"
    deadline = time.monotonic() + 60
    while any(row["status"] == "pending" for row in scripted_product.rows(ended, [identity])):
        assert time.monotonic() < deadline
        page.wait_for_timeout(100)
    answer = scripted_product.rows(f"{ended} AND role = 'assistant'", [identity])
    assert [row["status"] for row in answer] == ["completed"]
    assert answer[0]["text"].count("Well.") == 40
    main.get_by_role("button", name="Empty trash").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
    assert scripted_product.rows(ended, [identity]) == []
