"""An account's life in a browser: address, password, second factors, passkeys, sessions, end."""

import re
import secrets
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.users import PASSWORD, Person, SignUp, Visit, Visitor, go
from tests.support.outbox import link_in, newest_mail
from tests.support.product import Product
from tests.support.second_factor import code_of

OTHER = "another horse battery staple"


def sign_in(page: Page, email: str, password: str) -> None:
    page.goto("/login")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def _not_looked_at(_page: Page, _where: str) -> None:
    pass


def add_app(
    page: Page, look: Callable[[Page, str], None] = _not_looked_at
) -> tuple[str, list[str]]:
    """The secret of a new authenticator app, and the recovery codes; `look` is shown each step."""
    if page.url == "about:blank":
        page.goto("/settings/security")
    else:
        go(page, "/settings/security")
    page.get_by_role("button", name="Add an authenticator app").click()
    secret = page.get_by_test_id("totp-secret").inner_text()
    look(page, "the dialog of an authenticator app")
    keep_image(page, "totp")
    page.get_by_label("Code of the app").fill(code_of(secret))
    page.get_by_role("button", name="Add the app").click()
    codes = page.get_by_role("list", name="Recovery codes")
    expect(codes).to_be_visible()
    look(page, "the recovery codes")
    keep_image(page, "recovery-codes")
    shown = codes.get_by_role("listitem").all_inner_texts()
    page.get_by_role("button", name="I have kept them").click()
    expect(page.get_by_role("button", name="Remove the authenticator app")).to_be_visible()
    return secret, shown


def test_sign_up_in_another_browser_asks_for_the_password(
    visit: Visit, live_product: Product
) -> None:
    """And a sign-up with an address that has an account shows nobody that it has."""
    first, second = visit(), visit()
    second.expect_status(401)
    email = f"{secrets.token_hex(6)}@example.com"
    first.open("/signup")
    first.page.get_by_label("E-mail").fill(email)
    first.page.get_by_label("Password").fill(PASSWORD)
    first.page.get_by_role("button", name="Create account").click()
    expect(first.page.get_by_text(email)).to_be_visible()
    assert_accessible(first.page, "the notice of a mail")
    keep_image(first.page, "mail-sent")
    second.open(link_in(newest_mail(live_product.url, email, "/confirm-sign-up#")))
    page = second.page
    expect(page.get_by_text("another browser")).to_be_visible()
    assert "#" not in page.url
    assert_accessible(page, "the confirmation of a sign-up")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()

    # Whoever asks with an address that is known now sees the same page.
    first.open("/signup")
    first.page.get_by_label("E-mail").fill(email)
    first.page.get_by_label("Password").fill(PASSWORD)
    first.page.get_by_role("button", name="Create account").click()
    expect(first.page.get_by_role("heading", name="Look at your mail")).to_be_visible()
    assert newest_mail(live_product.url, email, "You have an account already")


def test_forgotten_password_is_reset_by_mail(
    person: Person, visit: Visit, live_product: Product
) -> None:
    visitor = visit()
    visitor.expect_status(401)
    page = visitor.page
    page.goto("/login")
    page.get_by_role("link", name="Forgot your password?").click()
    # Both pages have a field of this name: not the one that is about to go.
    expect(page.get_by_role("button", name="Send the link")).to_be_visible()
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Look at your mail")).to_be_visible()
    page.goto(link_in(newest_mail(live_product.url, person.email, "/reset-password#")))
    page.get_by_label("New password").fill(OTHER)
    keep_image(page, "reset-password")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("Your password is changed")).to_be_visible()
    sign_in(page, person.email, PASSWORD)
    expect(page.get_by_role("alert")).to_contain_text("wrong")
    page.get_by_label("Password").fill(OTHER)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    # What was open elsewhere is signed out.
    person.visitor.expect_status(401)
    person.page.reload()
    expect(person.page).to_have_url(re.compile("/login"))


def test_lost_phone_is_replaced_by_a_recovery_code(sign_up: SignUp, visit: Visit) -> None:
    person = sign_up(**PHONE)
    secret, codes = add_app(person.page, look=assert_accessible)
    width = person.page.evaluate("document.documentElement.scrollWidth")
    assert width <= person.page.evaluate("screen.width")
    keep_image(person.page, "security-phone")
    visitor = visit()
    visitor.expect_status(401)
    page = visitor.page
    sign_in(page, person.email, PASSWORD)
    page.get_by_label("authenticator app").fill("000000")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("wrong")
    assert_accessible(page, "the second step")
    keep_image(page, "second-step")
    page.get_by_label("authenticator app").fill(code_of(secret, periods=1))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()

    lost = visit().page
    sign_in(lost, person.email, PASSWORD)
    lost.get_by_role("button", name="Use a recovery code").click()
    lost.get_by_label("Recovery code").fill(codes[0])
    lost.get_by_role("button", name="Continue").click()
    expect(lost.get_by_role("textbox", name="Message")).to_be_visible()
    go(lost, "/settings/security")
    expect(lost.get_by_text("9 are left")).to_be_visible()
    lost.get_by_role("button", name="Remove the authenticator app").click()
    expect(lost.get_by_role("button", name="Add an authenticator app")).to_be_visible()


def test_organization_that_demands_a_factor_opens_when_it_is_set_up(sign_up: SignUp) -> None:
    person = sign_up()
    page = person.page
    page.goto("/organization/security")
    person.visitor.expect_status(409)
    box = page.get_by_role("checkbox", name="Members need a second factor")
    box.click()
    expect(page.get_by_role("alert")).to_contain_text("Add a second factor to your own account")
    add_app(page)
    go(page, "/organization/security")
    box.click()
    expect(box).to_be_checked()
    assert_accessible(page, "the demand for a second factor")
    keep_image(page, "demand")
    page.goto("/settings/security")
    page.get_by_role("button", name="Remove the authenticator app").click()
    expect(page.get_by_role("button", name="Add an authenticator app")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="One more step")).to_be_visible()
    assert_accessible(page, "one more step")
    keep_image(page, "one-more-step")
    page.get_by_role("link", name="Set it up").click()
    add_app(page)
    page.goto("/")
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()


def expect_no_passkey_by_ip_address(page: Page) -> None:
    """On the page of the security, which says why."""
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_label("Name").fill("My laptop")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("http://localhost")


def test_address_and_password_are_changed_and_the_password_asked_for_after_ten_minutes(
    sign_up: SignUp, live_product: Product
) -> None:
    person = sign_up()
    page = person.page
    person.visitor.expect_status(403, 400)
    person.open("/settings/security")
    expect_no_passkey_by_ip_address(page)
    new = f"{secrets.token_hex(6)}@example.com"
    page.get_by_label("New address").fill(new)
    page.get_by_role("button", name="Change the address").click()
    expect(page.get_by_text(f"We have written to {new}")).to_be_visible()
    assert new in newest_mail(live_product.url, person.email, "/stop-address-change#")
    page.goto(link_in(newest_mail(live_product.url, new, "/confirm-address#")))
    page.get_by_role("button", name="Use this address").click()
    expect(page.get_by_text("Your address is confirmed")).to_be_visible()
    assert new in newest_mail(live_product.url, person.email, "has the address")

    [key] = [c["value"] for c in person.context.cookies() if c["name"] == "sessionid"]
    live_product.inside(
        "from django.contrib.sessions.backends.cached_db import SessionStore\n"
        f"session = SessionStore('{key}'); session['signed_in_at'] = 0; session.save()",
    )
    person.open("/settings/security")
    expect(page.get_by_text(f"It is {new}")).to_be_visible()
    page.get_by_label("New password").fill(OTHER)
    page.get_by_role("button", name="Change the password").click()
    dialog = page.get_by_role("dialog", name="Is it you?")
    dialog.get_by_label("Your password").fill("wrong")
    dialog.get_by_role("button", name="Continue").click()
    expect(dialog.get_by_text("wrong")).to_be_visible()
    keep_image(page, "reauthentication")
    dialog.get_by_label("Your password").fill(PASSWORD)
    dialog.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Your password is changed")).to_be_visible()


def test_signing_out_everywhere_reaches_the_other_device(sign_up: SignUp, visit: Visit) -> None:
    person = sign_up()
    other = visit(user_agent="Mozilla/5.0 (iPhone) Version/18.0 Mobile Safari/604.1")
    sign_in(other.page, person.email, PASSWORD)
    expect(other.page.get_by_role("textbox", name="Message")).to_be_visible()
    for visitor in (person.visitor, other):
        visitor.expect_status(401)
    page = person.page
    page.goto("/settings/security")
    expect(page.get_by_text("Safari on iPhone")).to_be_visible()
    expect(page.get_by_text("This device")).to_be_visible()
    keep_image(page, "security")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page).to_have_url(re.compile("/login"))
    expect(other.page).to_have_url(re.compile("/login"))  # by itself, within seconds


@pytest.fixture
def passkey_visitor(browser: Browser, live_product: Product) -> Callable[..., Visitor]:
    """A profile at http://localhost, where browsers keep passkeys, with an authenticator."""
    url = live_product.url.replace("127.0.0.1", "localhost")

    def new(**options: object) -> Visitor:
        visitor = Visitor(browser, url, **options)
        session = visitor.context.new_cdp_session(visitor.page)
        session.send("WebAuthn.enable")
        session.send(
            "WebAuthn.addVirtualAuthenticator",
            {
                "options": {
                    "protocol": "ctap2",
                    "transport": "internal",
                    "hasResidentKey": True,
                    "hasUserVerification": True,
                    "isUserVerified": True,
                    "automaticPresenceSimulation": True,
                }
            },
        )
        return visitor

    return new


def test_passkey_signs_in_without_the_password(
    passkey_visitor: Callable[..., Visitor],
) -> None:
    visitor = passkey_visitor()
    visitor.expect_status(401)
    person = Person(visitor)
    page = person.page
    person.open("/settings/security")
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_label("Name").fill("My laptop")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="I have kept them").click()
    expect(page.get_by_text("My laptop")).to_be_visible()
    keep_image(page, "passkey")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page).to_have_url(re.compile("/login"))
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("My laptop")).to_be_visible()  # where they were
    # With the password it is the second step.
    person.call("POST", "/api/auth/logout")
    sign_in(page, person.email, PASSWORD)
    expect(page.get_by_role("heading", name="Second step")).to_be_visible()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    go(page, "/settings/security")
    page.get_by_role("button", name="Remove the passkey My laptop").click()
    expect(page.get_by_text("My laptop")).to_be_hidden()
    visitor.leave()
