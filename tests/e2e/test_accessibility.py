"""For everyone: by keyboard, with a screen reader's eyes (axe), on a phone."""

from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.e2e.catalogues import expect_no_english, said
from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.test_messages import MARKDOWN
from tests.e2e.users import Person, SignUp, Visit, go, until
from tests.support.product import Product

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
# What is serious or worse, in words. Rules that find nothing of the kind are a third of axe's time,
# and are left out. Base UI's focus guards stand at both ends of an open menu and hand the focus on
# at once; nobody can rest on one, so that they are hidden and focusable shuts nobody out.
SEVERE = """async () => {
  const isSevere = ({ impact }) => impact === 'serious' || impact === 'critical';
  const others = axe._audit.rules.filter((rule) => !isSevere(rule));
  const { violations } = await axe.run(
    { exclude: [['[data-base-ui-focus-guard]']] },
    {
      resultTypes: ['violations'],
      preload: false,
      rules: Object.fromEntries(others.map(({ id }) => [id, { enabled: false }])),
    },
  );
  return violations
    .filter(isSevere)
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`));
}"""
# What is shown can be scrolled to: nothing is wider than the page's own frame.
CUT_OFF = """() => [...document.querySelectorAll('main button, main a, main input')]
  .filter((one) => one.checkVisibility() && !one.closest('pre, table, .sr-only'))
  .filter((one) => !one.className.includes?.('sr-only'))
  .map((one) => [one.getBoundingClientRect(), one.outerHTML])
  .filter(([{left, right, width}]) => width > 1 && (left < 0 || right > innerWidth + 1))
  .map(([, html]) => html.slice(0, 200))"""


def assert_accessible(page: Page, where: str) -> None:
    """No violation of level serious or above, as axe-core sees the page now."""
    # What is just fading in or out has the contrast of neither state.
    until(page, "() => document.getAnimations().every(({playState}) => playState !== 'running')")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    severe: list[str] = page.evaluate(SEVERE)
    assert severe == [], "\n".join([where, *severe])


def pages_of(person: Person, chat: str) -> list[str]:
    """Each page behind the sign-in."""
    project = person.call("GET", "/api/projects")["data"][0]["id"]
    return [
        *("/", f"/c/{chat}", "/chats", "/archived", "/assistants"),
        *("/projects", f"/projects/{project}"),
        *("/keys", "/playground", "/usage", "/billing"),
        *("/organization", "/organization/security", "/organization/tools"),
        *("/settings", "/settings/security", "/settings/memory", "/settings/privacy"),
        *("/help", "/nowhere"),
    ]


def assert_nothing_is_cut_off(page: Page, path: str, size: ViewportSize) -> None:
    expect(page.get_by_role("main")).to_be_visible()
    page.wait_for_function(
        "width => document.documentElement.scrollWidth <= width", arg=size["width"]
    )
    with suppress(PlaywrightTimeout):  # what is in the way is named below
        page.wait_for_function(f"() => ({CUT_OFF})().length === 0", timeout=5_000)
    assert page.evaluate(CUT_OFF) == [], f"{path} at {size}"


IN_ARABIC = (
    "tests/e2e/test_accessibility.py"
    "::test_every_page_passes_axe_and_is_in_its_language[phone-dark-ar]"
)


# Colours depend on the scheme alone and the layout on the device alone; German has the longest
# words, and Arabic runs from right to left.
@pytest.mark.parametrize(
    ("device", "scheme", "language"),
    [
        pytest.param("desktop", "light", "en", marks=pytest.mark.nightly(beside=IN_ARABIC)),
        ("phone", "dark", "ar"),
        pytest.param("phone", "light", "de", marks=pytest.mark.nightly(beside=IN_ARABIC)),
    ],
)
def test_every_page_passes_axe_and_is_in_its_language(
    sign_up: SignUp, live_product: Product, device: str, scheme: str, language: str
) -> None:
    options = {"color_scheme": scheme, "locale": language}
    person = sign_up(**options, **(PHONE if device == "phone" else {}))
    person.visitor.expect_status(404)
    page = person.page
    chat = insert_branch(live_product, person, "Markdown", ["Show me", MARKDOWN])
    person.open("/")
    for path in pages_of(person, chat):
        go(page, path)
        page.wait_for_load_state("networkidle")
        absent = page.get_by_role("heading", name=said(language, "This page doesn't exist"))
        expect(absent).to_have_count(1 if path == "/nowhere" else 0)
        assert_accessible(page, f"{path} in {language}")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.evaluate("screen.width"), f"{path} is wider than the screen"
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator("html")).to_have_attribute("dir", "rtl" if language == "ar" else "ltr")
        if language != "en":
            expect_no_english(page, language)


ZOOMED_MOST = "tests/e2e/test_accessibility.py::test_every_page_can_be_read_when_zoomed[400]"


# WCAG 2.2: 1.4.4 asks for 200 %, 1.4.10 for 400 % of a window 1,280 points wide.
@pytest.mark.parametrize(
    "size",
    [
        pytest.param(
            {"width": 720, "height": 450}, marks=pytest.mark.nightly(beside=ZOOMED_MOST), id="200"
        ),
        pytest.param({"width": 320, "height": 256}, id="400"),
    ],
)
def test_every_page_can_be_read_when_zoomed(
    sign_up: SignUp, live_product: Product, size: ViewportSize
) -> None:
    """Nothing is wider than the window, and what is shown can be scrolled to."""
    person = sign_up(viewport=size)
    person.visitor.expect_status(404)
    page = person.page
    chat = insert_branch(live_product, person, "Markdown", ["Show me", MARKDOWN])
    person.open("/")
    for path in pages_of(person, chat):
        go(page, path)
        page.wait_for_load_state("networkidle")
        assert_nothing_is_cut_off(page, path, size)
    go(page, f"/c/{chat}")
    person.composer.fill("Is there room for words?")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_in_viewport()


DIALOGS_ON_A_PHONE = (
    "tests/e2e/test_accessibility.py::test_dialogs_and_menus_of_a_chat_pass_axe[phone-dark]"
)


@pytest.mark.parametrize(
    ("device", "scheme"),
    [
        pytest.param("desktop", "light", marks=pytest.mark.nightly(beside=DIALOGS_ON_A_PHONE)),
        ("phone", "dark"),
    ],
)
def test_dialogs_and_menus_of_a_chat_pass_axe(
    sign_up: SignUp, live_product: Product, scheme: str, device: str
) -> None:
    person = sign_up(color_scheme=scheme, **(PHONE if device == "phone" else {}))
    page = person.page
    chat = insert_branch(live_product, person, "Markdown", ["Show me", MARKDOWN])
    person.open(f"/c/{chat}")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_accessible(page, "the share dialog")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Model:").click()
    expect(page.get_by_role("menu")).to_be_visible()
    assert_accessible(page, "the model menu")
    page.keyboard.press("Escape")
    if device == "phone":
        page.get_by_role("button", name="Open menu").click()
        expect(page.get_by_role("dialog", name="Menu")).to_be_visible()
        assert_accessible(page, "the drawer")
        page.keyboard.press("Escape")
    person.composer.fill("/")
    expect(page.get_by_role("listbox", name="Prompts")).to_be_visible()
    assert_accessible(page, "the prompts")
    page.keyboard.press("Control+/")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert_accessible(page, "the keyboard shortcuts")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search chats")).to_be_focused()
    assert_accessible(page, "the search")
    page.keyboard.press("Escape")
    if device == "phone":
        ask_and_change_chats_on_a_phone(person, chat)


def ask_and_change_chats_on_a_phone(person: Person, chat: str) -> None:
    """A new chat by touch, and back to the one that is named Markdown by the drawer."""
    page = person.page
    go(page, "/")
    expect(page.get_by_role("navigation", name="Conversations")).to_be_hidden()
    person.composer.fill("Say hello.")
    page.get_by_role("button", name="Send", exact=True).tap()
    person.wait_for_words(1)
    person.stop()
    page.get_by_role("button", name="Open menu").tap()
    page.get_by_role("dialog", name="Menu").get_by_role("link", name="Markdown").tap()
    page.wait_for_url(f"**/c/{chat}")
    expect(page.get_by_role("dialog", name="Menu")).to_be_hidden()


WATCH_MOTION = """() => {
  window.moved = [];
  for (const kind of ['animationstart', 'transitionrun']) {
    document.addEventListener(kind, ({target}) => {
      for (const one of target.getAnimations()) {
        const {duration, iterations} = one.effect.getTiming();
        if (duration > 1 || iterations > 1) window.moved.push(target.outerHTML);
      }
    }, true);
  }
}"""


def choose_a_prompt_by_a_slash(person: Person, starter: str) -> None:
    page, keyboard = person.page, person.page.keyboard
    person.composer.fill("/")
    options = page.get_by_role("listbox", name="Prompts").get_by_role("option")
    expect(options).to_have_count(5)
    expect(options.nth(0)).to_contain_text("Accountant")
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    keyboard.press("ArrowUp")
    expect(options.nth(4)).to_have_attribute("aria-selected", "true")
    keyboard.type("inv")
    expect(options).to_have_count(1)
    keyboard.press("Enter")
    expect(person.composer).to_have_value(starter)
    expect(person.composer).to_be_focused()
    expect(page.get_by_role("article")).to_have_count(0)

    person.composer.fill("/wri")
    expect(options).to_have_count(1)
    keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(person.composer).to_have_value("/wri")
    person.composer.fill("")


def open_the_sheet_of_keys_by_its_key_and_from_the_menu(person: Person) -> None:
    page = person.page
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(person.composer).to_be_focused()
    page.keyboard.press("Control+/")
    expect(sheet).to_contain_text("Search chats")
    page.keyboard.press("Control+/")
    expect(sheet).to_be_hidden()
    expect(person.composer).to_be_focused()
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("menuitem", name="Keyboard shortcuts").click()
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


def test_sign_in_and_sign_up_pass_axe(visit: Visit) -> None:
    page = visit().page
    page.goto("/login")
    for path in ("/login", "/signup", "/forgot-password", "/reset-password#x"):
        go(page, path)
        expect(page.get_by_role("textbox").first).to_be_visible()
        assert_accessible(page, path)


def test_chat_is_usable_by_keyboard_and_nothing_moves(sign_up: SignUp) -> None:
    """Prompts by a slash, the sheet of keys, chats and the search, for somebody who wants reduced
    motion."""
    starter = "Check this invoice against the contract."
    person = sign_up(reduced_motion="reduce")
    person.call("POST", "/api/assistants", {"name": "Accountant", "starters": [starter]})
    person.open("/")
    page = person.page
    keyboard = page.keyboard
    page.evaluate(WATCH_MOTION)
    expect(person.composer).to_be_focused()
    choose_a_prompt_by_a_slash(person, starter)
    open_the_sheet_of_keys_by_its_key_and_from_the_menu(person)
    page.get_by_role("button", name="Model:").click()
    expect(page.get_by_role("menu")).to_be_visible()
    keyboard.press("Escape")
    person.composer.focus()
    keyboard.type("Write a long story")
    keyboard.press("Shift+Enter")
    keyboard.type("about a keyboard.")
    keyboard.press("Enter")
    expect(page.get_by_role("article", name="You")).to_contain_text("Write a long story\nabout")
    person.wait_for_words()
    keyboard.press("Escape")
    person.wait_for_the_end()
    expect(person.composer).to_be_focused()

    keyboard.press("Control+Shift+O")
    expect(page.get_by_text("What's on your mind")).to_be_visible()
    expect(person.composer).to_be_focused()

    keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search chats")).to_be_focused()
    expect(page.get_by_role("option")).to_have_count(2)
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    page.wait_for_url("**/c/*")
    expect(page.get_by_role("article", name="You")).to_be_visible()
    assert page.evaluate("window.moved") == []

    person.open("/settings")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
