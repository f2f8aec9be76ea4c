"""The page in other languages than English: as the browser speaks, as it was chosen, and from right
to left. What is expected of a language is what its catalogue says."""

from playwright.sync_api import Page, expect

from tests.e2e.catalogues import expect_no_english, said
from tests.e2e.test_app import KEPT_PATHS
from tests.e2e.users import PASSWORD, SignUp, Visit


def _expect_language(page: Page, language: str, direction: str = "ltr") -> None:
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("html")).to_have_attribute("dir", direction)


def _day(page: Page, language: str, iso: str) -> str:
    """As the browser writes it in that language."""
    day: str = page.evaluate(
        "([tag, iso]) => new Intl.DateTimeFormat(tag, {dateStyle: 'medium'}).format(new Date(iso))",
        [language, iso],
    )
    return day


def test_before_the_sign_in_it_is_the_browsers_language_or_the_picked_one(visit: Visit) -> None:
    visitor = visit(locale="de-AT")
    page = visitor.page
    visitor.open("/login")
    _expect_language(page, "de")
    expect(page.get_by_role("button", name=said("de", "Sign in"), exact=True)).to_be_visible()
    expect_no_english(page, "de")
    page.get_by_role("combobox", name=said("de", "Language")).select_option("ja")
    _expect_language(page, "ja")
    visitor.open("/signup")
    _expect_language(page, "ja")
    expect(page.get_by_role("heading", name=said("ja", "Create your account"))).to_be_visible()
    expect_no_english(page, "ja")


def test_language_that_the_page_does_not_speak_is_english(visit: Visit) -> None:
    visitor = visit(locale="sv-SE")
    visitor.open("/login")
    _expect_language(visitor.page, "en")


def test_arabic_is_the_accounts_and_runs_from_right_to_left(sign_up: SignUp, visit: Visit) -> None:
    person = sign_up(locale="de-DE")
    page = person.page
    key = person.call("POST", "/api/keys", {"name": "Laptop"})
    person.open("/settings")
    _expect_language(page, "de")
    label = "Language of the page and of mails"
    picker = page.get_by_role("combobox", name=said("de", label))
    expect(picker).to_be_visible()
    picker.select_option("ar")
    _expect_language(page, "ar", "rtl")
    assert person.call("GET", "/api/me")["user"]["language"] == "ar"

    sidebar = page.get_by_role("navigation", name=said("ar", "Conversations")).bounding_box()
    main = page.get_by_role("main").bounding_box()
    assert sidebar and main and sidebar["x"] >= main["x"] + main["width"]
    person.go("/keys")
    expect(page.get_by_text(_day(page, "ar", key["created_at"])).first).to_be_visible()

    other = visit(locale="en-US")
    other.open("/login")
    other.page.get_by_label("E-mail").fill(person.email)
    other.page.get_by_label("Password", exact=True).fill(PASSWORD)
    other.page.get_by_role("button", name="Sign in", exact=True).click()
    _expect_language(other.page, "ar", "rtl")
    other.page.wait_for_load_state("networkidle")

    person.go("/settings")
    page.get_by_role("combobox", name=said("ar", label)).select_option("en")
    _expect_language(page, "en")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()


def test_shell_without_a_connection_has_the_language(sign_up: SignUp) -> None:
    person = sign_up(service_workers="allow", locale="fr-FR")
    page = person.page
    person.open("/")
    page.wait_for_function("() => navigator.serviceWorker.controller?.state === 'activated'")
    kept = page.evaluate(KEPT_PATHS)
    assert len([path for path in kept if path.startswith("/static/app/assets/fr-")]) == 2, kept
    person.visitor.expect_offline()
    person.context.set_offline(True)
    page.goto("/")
    _expect_language(page, "fr")
    expect(page.get_by_text(said("fr", "You are offline"))).to_be_visible()
