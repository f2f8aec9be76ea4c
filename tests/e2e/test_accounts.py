"""Signing up, in and out."""

import re
import secrets

from playwright.sync_api import expect

from tests.e2e.users import PASSWORD, Person, Visit
from tests.support.outbox import link_in, newest_mail
from tests.support.product import Product


def test_visitor_signs_up_and_starts_a_chat(visit: Visit, live_product: Product) -> None:
    """A weak password is refused with a reason."""
    visitor = visit()
    visitor.expect_status(400)
    page = visitor.page
    page.goto("/")
    expect(page).to_have_url(re.compile("/login$"))
    page.get_by_role("link", name="Create an account").click()
    email = f"{secrets.token_hex(6)}@example.com"
    page.get_by_label("Name").fill("Grace Hopper")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill("password123")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_text(re.compile("too common", re.IGNORECASE))).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", name="Look at your mail")).to_be_visible()
    page.goto(link_in(newest_mail(live_product.url, email, "/confirm-sign-up#")))
    expect(page.get_by_text("What's on your mind, Grace?")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()


def test_user_signs_out_everywhere_and_returns_to_the_same_page(person: Person) -> None:
    other_tab = person.visitor.new_tab()
    other_tab.goto("/settings")
    expect(other_tab.get_by_role("heading", name="Settings")).to_be_visible()
    person.visitor.expect_status(401)

    person.page.get_by_role("button", name=f"Account of {person.name}").click()
    person.page.get_by_role("menuitem", name="Sign out").click()
    expect(person.page).to_have_url(re.compile("/login$"))
    expect(other_tab).to_have_url(re.compile("/login"))

    other_tab.get_by_label("E-mail").fill(person.email)
    other_tab.get_by_label("Password").fill(PASSWORD)
    other_tab.get_by_role("button", name="Sign in").click()
    expect(other_tab.get_by_role("heading", name="Settings")).to_be_visible()


def test_wrong_password_is_refused_and_no_link_redirects_to_another_origin(person: Person) -> None:
    # What the page still asks for would be answered with 401.
    person.page.wait_for_load_state("networkidle")
    person.call("POST", "/api/auth/logout")
    person.visitor.expect_status(401)
    page = person.page
    person.open("/login?next=//evil.example/")
    page.get_by_label("E-mail").fill(person.email)
    password = page.get_by_label("Password")
    expect(password).to_have_attribute("autocomplete", "current-password")
    pasted = "field => field.dispatchEvent(new ClipboardEvent('paste', {cancelable: true}))"
    assert password.evaluate(pasted), "a password can be pasted"
    password.fill("wrong password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("wrong")
    expect(page).to_have_url(re.compile("/login"))
    password.fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(person.composer).to_be_visible()
    assert page.url == f"{person.visitor.url}/"
