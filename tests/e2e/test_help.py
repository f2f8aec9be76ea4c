"""Where people look when something fails: the help page, and the ways to it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.catalogues import said
from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_help_is_in_the_menu_and_on_the_sheet_of_keys_and_says_what_works_and_what_failed(
    person: Person, scripted_product: ScriptedProduct
) -> None:
    page = person.page
    page.get_by_role("button", name=person.name).click()
    page.get_by_role("menuitem", name="Help").click()
    expect(page.get_by_text("Parley answers this page.")).to_be_visible()
    [model] = [
        one for one in person.call("GET", "/api/models")["data"] if "chat" in one["capabilities"]
    ]
    works = page.get_by_role("list", name="What works")
    expect(works.get_by_role("listitem").filter(has_text=model["name"])).to_contain_text("answers")
    expect(page.get_by_text("Nothing, since it was opened or reloaded.")).to_be_visible()
    expect(page.get_by_role("link", name="Administration")).to_be_visible()  # an owner's page
    for name, path in {
        "Billing": "/billing",
        "API keys": "/keys",
        "Tools": "/organization/tools",
    }.items():
        link = page.get_by_role("main").get_by_role("link", name=name, exact=True)
        expect(link).to_have_attribute("href", path)
    person.go("/")
    expect(person.composer).to_be_visible()
    page.keyboard.press("Control+/")
    page.get_by_role("link", name="Where to look when something fails").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()

    # A stream that fails leaves the id of its request.
    person.go("/")
    scripted_product.refuses((400, {"message": "The model cannot take this."}))
    try:
        person.visitor.expect_status(400, 502, 503)
        person.say("Hello?")
        expect(page.get_by_role("link", name="What to do")).to_be_visible()
    finally:
        scripted_product.refuses(None)
    page.get_by_role("link", name="What to do").click()
    failures = page.get_by_role("list", name="What failed in this tab")
    expect(failures.get_by_role("listitem")).to_have_count(1)
    expect(failures.get_by_role("button", name="Copy the request's id")).to_be_visible()

    expect(page.get_by_text("Parley answers this page.")).to_be_visible()
    person.visitor.expect_offline()
    page.context.set_offline(True)
    expect(page.get_by_text("Parley can't be reached. Check your connection.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("Parley answers this page.")).to_be_visible()


@pytest.mark.nightly(
    beside="tests/e2e/test_refusals.py"
    "::test_blocked_prompt_is_explained_appealed_and_edited_and_what_is_unknown_is_not_found"
)
def test_help_on_a_phone_is_in_its_language(sign_up: SignUp) -> None:
    language = "ar"
    person = sign_up(locale=language, **PHONE)
    page = person.page
    person.open("/help#budget")
    expect(page.get_by_role("heading", name=said(language, "Help"), exact=True)).to_be_visible()
    budget = (
        "The budget or the credit of the organization, the project or the key has no room left."
    )
    expect(page.get_by_text(said(language, budget))).to_be_in_viewport()
    assert_accessible(page, f"help in {language}")
    keep_image(page, f"help-{language}")
