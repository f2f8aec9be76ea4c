"""Visitors and the people that they become: what they do on the page, in their words."""

import contextlib
import os
import re
import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, CDPSession, ConsoleMessage, Locator, Page, Request, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.e2e.profiles import Profiles
from tests.support.outbox import token_mailed

PASSWORD = "correct horse battery staple"

# The model writes some words a second on a busy machine.
expect.set_options(timeout=45_000)

_SANDBOXED = re.compile(
    r"sandboxed|Unsafe attempt to|permissions policy|origin \('null'\)|origin 'null'", re.I
)
_FAILED_REQUEST = re.compile(r"status of (\d+)")


# Each request of a page takes so many milliseconds more: what a test does before the page is ready
# for it, or reads before it has come, is then seen here and not first on a busy machine.
LATENCY_MS = int(os.environ.get("PARLEY_E2E_LATENCY_MS", "0"))


def _slow_line(page: Page) -> CDPSession:
    """It is slow until the session is detached."""
    chromium = page.context.new_cdp_session(page)
    chromium.send("Network.enable")
    chromium.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": LATENCY_MS,
            "downloadThroughput": -1,
            "uploadThroughput": -1,
        },
    )
    return chromium


class Visitor:
    """A browser profile. `page` is its first tab."""

    def __init__(
        self, browser: Browser, url: str, profiles: Profiles | None = None, /, **options: Any
    ) -> None:
        """
        Args:
            profiles: where there may be one that fits; else it is a new one.
            options: see Browser.new_context.
        """
        self.url = url
        self._expected: set[str] = set()
        self._problems: list[str] = []
        self._slow_lines: list[CDPSession] = []
        self.foreign_requests: list[str] = []
        size = {"width": 1440, "height": 900}
        # What moves is drawn sixty times a second, by the processor.
        usual = {"base_url": url, "viewport": size, "reduced_motion": "reduce"}
        # What a service worker answers, `page.route` does not see. test_app.py is about it.
        usual["service_workers"] = "block"
        self._profiles = profiles if profiles and profiles.keeps(options) else None
        options = {**usual, **options}
        if self._profiles:
            self.context = self._profiles.lend(url, options)
        else:
            self.context = browser.new_context(**options)
        self.context.set_default_timeout(45_000)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
        self.page = self.new_tab()

    def new_tab(self) -> Page:
        page = self.context.new_page()
        if LATENCY_MS and "offline" not in self._expected:
            self._slow_lines.append(_slow_line(page))
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._problems.append(f"uncaught: {error}"))
        page.on("dialog", lambda dialog: self._problems.append(f"dialog: {dialog.message}"))
        page.on("request", self._on_request)
        page.on("requestfailed", self._on_failure)
        return page

    @property
    def tabs(self) -> list[Page]:
        """All that are open."""
        return self._profiles.tabs(self.context) if self._profiles else self.context.pages

    def expect_status(self, *statuses: int) -> None:
        """Failed answers that belong to the test: browsers log each as a console error."""
        self._expected |= {str(status) for status in statuses}

    def expect_offline(self) -> None:
        while self._slow_lines:  # else the line stays up
            self._slow_lines.pop().detach()
        self._expected.add("offline")

    def expect_refusals(self) -> None:
        """What a Content-Security-Policy refuses belongs to the test: browsers log each, and
        name what was never sent."""
        self._expected.add("refused by a policy")

    def expect_sandbox(self) -> None:
        """What a sandboxed frame is refused belongs to the test: browsers log each."""
        self._expected.add("sandboxed")

    def open(self, path: str) -> None:
        self.page.goto(path)

    def leave(self) -> None:
        """Close everything; fails if the page had a problem."""
        if self._profiles:
            self._profiles.take_back(self.context)
        else:
            self.context.close()
        assert self._problems == [], "\n".join(self._problems)
        assert self.foreign_requests == []

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        failed = _FAILED_REQUEST.search(message.text)
        if failed and failed[1] in self._expected:
            return
        # `foreign_requests` has it; whether another site has a favicon is up to that site.
        if failed and not self._is_ours(message.location["url"]):
            return
        # The first prompt of every visit, and the answer that leads to the sign-in page.
        if failed and failed[1] == "401" and message.location["url"].endswith("/api/me"):
            return
        offline = "ERR_INTERNET_DISCONNECTED" in message.text or "WebSocket" in message.text
        if offline and "offline" in self._expected:
            return
        if _SANDBOXED.search(message.text) and "sandboxed" in self._expected:
            return
        if message.text == "Service Worker registration blocked by Playwright":
            return
        if "Content Security Policy" in message.text and "refused by a policy" in self._expected:
            return
        self._problems.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _on_request(self, request: Request) -> None:
        is_network = urlsplit(request.url).scheme in {"http", "https", "ws", "wss"}
        if is_network and not self._is_ours(request.url):
            self.foreign_requests.append(request.url)

    def _is_ours(self, url: str) -> bool:
        return urlsplit(url).netloc == urlsplit(self.url).netloc

    def _on_failure(self, request: Request) -> None:
        refused = request.failure == "csp" and "refused by a policy" in self._expected
        if refused and request.url in self.foreign_requests:
            self.foreign_requests.remove(request.url)


class Person:
    """Somebody who has an account of their own and is signed in."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.context = visitor.context
        self.page = visitor.page
        self.name = "Ada Lovelace"
        self.email = f"{secrets.token_hex(6)}@example.com"
        self._sign_up()

    def open(self, path: str) -> None:
        """Load the page: of what was there before nothing is left."""
        self.visitor.open(path)

    def go(self, path: str) -> None:
        """Go on as a link of the page does."""
        go(self.page, path)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The API's answer to this person's session; fails on any other status than a 2xx."""
        cookies = {cookie["name"]: cookie["value"] for cookie in self.context.cookies()}
        response = self.context.request.fetch(
            path,
            method=method,
            headers={"X-CSRFToken": cookies["csrftoken"], "Referer": f"{self.visitor.url}/"},
            data=body,
        )
        assert response.ok, f"{method} {path}: {response.status} {response.text()}"
        return response.json() if response.body() else None

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message")

    @property
    def stop_button(self) -> Locator:
        return self.page.get_by_role("button", name="Stop", exact=True)

    @property
    def answer(self) -> Locator:
        """The last answer on the page."""
        return self.page.get_by_role("article", name="Parley").last

    @property
    def conversations(self) -> Locator:
        return self.page.get_by_role("navigation", name="Conversations").get_by_role("link")

    @property
    def conversation_id(self) -> str:
        return urlsplit(self.page.url).path.removeprefix("/c/")

    def say(self, text: str) -> None:
        self.composer.fill(text)
        self.composer.press("Enter")

    def wait_for_words(self, count: int = 4) -> None:
        """Until so many words of the running answer are on the page."""
        until(
            self.page,
            """(count) => {
              const last = [...document.querySelectorAll('article')].at(-1);
              const answer = last?.ariaLabel === 'Parley' ? last.innerText : '';
              const text = answer.replace('Parley is thinking', '');
              return text.split(/\\s+/).filter((word) => /\\p{L}/u.test(word)).length >= count;
            }""",
            arg=count,
        )

    def stop(self) -> None:
        """Stop the answer and wait for its end; one that has just ended by itself is as good."""
        if self.stop_button.is_visible():
            with contextlib.suppress(PlaywrightTimeout):
                self.stop_button.click(timeout=3_000)
        self.wait_for_the_end()

    def wait_for_the_end(self) -> None:
        """Of the answer to the last prompt on the page."""
        until(
            self.page,
            "() => [...document.querySelectorAll('article')].at(-1)?.ariaLabel === 'Parley'",
        )
        expect(self.page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        expect(self.answer.get_by_role("button", name="Regenerate")).to_be_visible()

    def ask(self, text: str = "Write a short story about a lighthouse.") -> None:
        """A turn that is cut short after some words, and stored."""
        self.say(text)
        # Until then, the last answer on the page is that of the turn before.
        expect(self.page.get_by_role("article", name="You").last).to_contain_text(text)
        self.wait_for_words()
        self.stop()

    def stored(self) -> list[dict[str, Any]]:
        """The messages of the conversation on the page, as they are stored."""
        path = f"/api/conversations/{self.conversation_id}?limit=500"
        messages: list[dict[str, Any]] = self.call("GET", path)["messages"]
        return messages

    def choose(self, conversation: str, action: str) -> None:
        """An entry of a conversation's menu in the sidebar."""
        row = self.conversations.filter(has_text=conversation)
        row.hover()
        self.page.get_by_role("button", name=f"Options for {conversation}").click()
        self.page.get_by_role("menuitem", name=action).click()

    def new_conversation(self, title: str) -> str:
        """A conversation made over the API, with a title and no messages."""
        identity: str = self.call("POST", "/api/conversations", {"title": title})["id"]
        return identity

    def _sign_up(self) -> None:
        # As the page of the sign-up would have set it.
        self.context.add_cookies(
            [{"name": "csrftoken", "value": secrets.token_hex(16), "url": self.visitor.url}]
        )
        body = {"email": self.email, "password": PASSWORD, "name": self.name}
        self.call("POST", "/api/auth/signup", body)
        mailed = token_mailed(self.visitor.url, self.email, "confirm-sign-up")
        self.call("POST", "/api/auth/signup/confirm", {"token": mailed})


def until(page: Page, holds: str, arg: object = None) -> None:
    """Wait until a function of the page says so. It is asked ten times a second: at each frame, as
    Playwright would, has the page drawn sixty times a second."""
    page.wait_for_function(holds, arg=arg, polling=100)


def go(page: Page, path: str) -> None:
    """As a link of the page does; loading it anew at each path costs half a second of processor
    time. Returns when the page that was there is gone: until then it has a composer, too."""
    before = page.title() if urlsplit(page.url).path != path else None
    page.evaluate(
        "path => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')) }",
        path,
    )
    if before is not None:
        until(page, "before => document.title !== before", arg=before)


def copied(page: Page, button: Locator) -> str:
    """What `button` puts on the clipboard, which it does behind the click."""
    page.evaluate("navigator.clipboard.writeText('')")
    button.click()
    until(page, "async () => (await navigator.clipboard.readText()) !== ''")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def letters(text: str) -> str:
    """Only the letters: what markdown shows of a text and the text itself have in common."""
    return "".join(filter(str.isalpha, text))


def shown_letters(answer: Locator) -> str:
    """The letters of an answer as it is on the page, without the labels of code blocks."""
    text: str = answer.evaluate(
        """(article) => {
          const copy = article.querySelector('.answer')?.cloneNode(true);
          copy?.querySelectorAll('figcaption').forEach((caption) => caption.remove());
          return copy?.textContent ?? '';
        }"""
    )
    return letters(text)


def expect_letters(answer: Locator, wanted: str) -> None:
    """Until these are its letters: the last of an answer is drawn behind its end."""
    until = time.monotonic() + 20
    while (found := shown_letters(answer)) != wanted and time.monotonic() < until:
        answer.page.wait_for_timeout(100)
    assert found == wanted


Visit = Callable[..., Visitor]
SignUp = Callable[..., Person]
