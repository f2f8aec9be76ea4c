"""An assistant: made on its page, chosen for a new chat, seen in what was sent, and deleted."""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_tool_sign_in import add_server
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.mcp_server import ToolServer
from tests.support.scripted import ScriptedProduct

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture
def weather() -> Iterator[ToolServer]:
    server = ToolServer()
    server.start()
    yield server
    server.stop()


def test_assistant_is_made_chosen_and_heard_and_its_chat_outlives_it(
    sign_up: SignUp, scripted_product: ScriptedProduct, weather: ToolServer
) -> None:
    scripted_product.says("Arr, salt it be.")
    person: Person = sign_up()
    page = person.page
    add_server(person, "Weather", weather.url, "forecast")
    person.open("/assistants")
    expect(page.get_by_text("There are no assistants yet.")).to_be_visible()
    page.get_by_role("button", name="Create assistant").click()
    dialog = page.get_by_role("dialog", name="Create an assistant")
    dialog.get_by_role("textbox", name="Name").fill("Pirate")
    dialog.get_by_role("textbox", name="Description").fill("Answers from the high seas.")
    dialog.get_by_role("textbox", name="Instructions").fill("Speak as a pirate.")
    dialog.get_by_role("textbox", name="Starters").fill(
        "Where is the gold?\nWhat is this white powder?"
    )
    dialog.get_by_role("combobox", name="Tools").select_option("Only these")
    dialog.get_by_role("checkbox", name="Forecast").click()
    dialog.get_by_text("Advanced").click()
    dialog.get_by_role("spinbutton", name="Temperature").fill("0.3")
    dialog.get_by_role("combobox", name="What members may do").select_option("Use it")
    assert_accessible(page, "an assistant's form")
    keep_image(page, "form")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    row = page.get_by_role("listitem").filter(has_text="Pirate")
    expect(row).to_contain_text("shared")
    assert_accessible(page, "assistants")
    keep_image(page, "list")

    # From the menu of the models of any new chat.
    person.go("/")
    page.get_by_role("button", name="Model:").click()
    page.get_by_role("menuitem", name="Pirate").click()
    expect(page.get_by_role("link", name="Assistant: Pirate")).to_be_visible()
    expect(page.get_by_text("Answers from the high seas.")).to_be_visible()
    assert_accessible(page, "a new chat with an assistant")
    keep_image(page, "welcome")
    page.get_by_role("button", name="What is this white powder?").click()
    expect(person.composer).to_have_value("What is this white powder?")
    scripted_product.calls(("forecast", '{"city": "Oslo"}'))
    page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text("salt it be")
    scripted_product.calls()
    assert weather.called == [("forecast", "Oslo")]
    person.wait_for_the_end()
    expect(page.get_by_role("link", name="Assistant: Pirate")).to_be_visible()
    person.answer.get_by_role("button", name="More about this answer").click()
    page.get_by_role("menuitem", name="What was sent").click()
    sent = page.get_by_role("dialog", name="What was sent")
    for said in ("Speak as a pirate.", "What is this white powder?", "temperature: 0.3"):
        expect(sent).to_contain_text(said)
    keep_image(page, "sent")
    chat = page.url

    person.go("/assistants")
    page.get_by_role("button", name="Options for Pirate").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete assistant").click()
    expect(page.get_by_text("There are no assistants yet.")).to_be_visible()
    person.go(urlsplit(chat).path)
    expect(person.answer).to_contain_text("salt it be")
    expect(page.get_by_role("link", name="Assistant: Pirate")).to_have_count(0)
    person.composer.fill("And this black one?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("article", name="You")).to_have_count(2)
    person.wait_for_the_end()
    # The first turn's call stands in an article of its own.
    expect(page.get_by_role("article", name="Parley")).to_have_count(3)


def test_assistant_that_is_shared_to_be_used_offers_no_change(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    author, reader = sign_up(), sign_up()
    made = author.call(
        "POST",
        "/api/assistants",
        {"name": "Tutor", "instructions": "Ask back.", "seen_by": ["member"]},
    )
    reader.visitor.expect_status(404)
    reader.open(f"/a/{made['id']}")
    expect(reader.page.get_by_role("heading", name="This assistant doesn't exist")).to_be_visible()

    invited = author.call("POST", "/api/organization/invitations", {"role": "member"})
    token = invited["url"].partition("#")[2]
    reader.call("POST", "/api/me/invitations", {"token": token})
    reader.open("/assistants")
    expect(reader.page.get_by_role("listitem").filter(has_text="Tutor")).to_contain_text(
        f"by {author.name}"
    )
    reader.page.get_by_role("button", name="Options for Tutor").click()
    expect(reader.page.get_by_role("menuitem", name="Duplicate")).to_be_visible()
    expect(reader.page.get_by_role("menuitem", name="Edit")).to_have_count(0)
    expect(reader.page.get_by_role("menuitem", name="Delete")).to_have_count(0)
