"""`python -m infra.load.page`: how fast and how open the page is, in a real Chromium.

Printed are Lighthouse's four scores of the sign-in page and of a chat with what blocked each
(lighthouse.py), how long a chat of 1,000 messages takes to open at a processor four
times slower, and what the page keeps in memory through what eight hours of streaming bring. Behind
it is a web process whose upstream is the synthetic one (stack.py).
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, median

from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    Page,
    Playwright,
    sync_playwright,
)

from infra.chromium import chromium_path
from infra.launcher import frontend
from infra.load.lighthouse import (
    Report,
    lighthouse_report,
    performance,
    print_head,
    print_long_tasks,
    print_scores,
)
from infra.load.stack import MODEL, Stack
from infra.services.ports import free_port

PRESETS = {"phone": [], "desktop": ["--preset=desktop"]}
HOURS = 8
TOKENS_PER_ANSWER = 1_500
ANSWERS_PER_HOUR = 24
"""Of so many tokens each: ten a second, without a pause. Each hour has a chat of its own."""
_SLOWER = 4
_RUNS = {"a chat, phone": 3}
"""Of which the one in the middle is shown: its blocking time differs most from run to run."""

_MAKE_CHATS = """
import os, sys, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
django.setup()
from importlib import import_module
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from backend.accounts.authentication import principal_for_session
from backend.accounts.models import User
from backend.conversations.models import Conversation, Message
user = User.objects.get(email="owner@parley.local")
principal = async_to_sync(principal_for_session)(user, None)
session = import_module(settings.SESSION_ENGINE).SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.save()
model, answer, *counts = sys.argv[1:]
answer = open(answer).read()[:1500]
chats = []
for count in map(int, counts):
    chat = Conversation.objects.create(
        organization_id=principal.organization_id, user_id=user.pk, model=model,
        title=f"{count} messages", parameters={"max_tokens": %(tokens)d},
    )
    messages, parent = [], None
    for number in range(count):
        text = answer if number % 2 else f"Question {number}: how does a bicycle stay upright?"
        parent = Message(
            conversation=chat, parent=parent, role="assistant" if number % 2 else "user",
            content=[{"type": "text", "text": text}], text=text, status="completed", model=model,
        )
        messages.append(parent)
    Message.objects.bulk_create(messages)
    Conversation.objects.filter(pk=chat.pk).update(active_message=parent)
    chats.append(str(chat.pk))
print(settings.SESSION_COOKIE_NAME, session.session_key, *chats)
""".replace("%(tokens)d", str(TOKENS_PER_ANSWER))


@dataclass(frozen=True, slots=True)
class Chats:
    """Of one person: their session's cookie, and the ids of chats."""

    cookie: tuple[str, str]
    long: str
    short: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", choices=("lighthouse", "open", "memory"))
    parser.add_argument("--keep", type=Path, help="the folder for Lighthouse's reports, as JSON")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    if not frontend.build_is_current():
        print("The page is not built of its sources as they are now: it is built first.")
        frontend.build(frontend.find_node())
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        with Stack(directory, rate=0, settings={}, compresses_files=True) as stack:
            chats = _make_chats(stack)
            with sync_playwright() as playwright:
                _measure(
                    playwright,
                    stack.web_url,
                    chats,
                    directory,
                    only=options.only,
                    keep=options.keep,
                )


def _measure(
    playwright: Playwright,
    url: str,
    chats: Chats,
    directory: Path,
    *,
    only: str | None,
    keep: Path | None,
) -> None:
    """
    Args:
        only: one of the three; None: all of them.
        keep: where Lighthouse's reports stay; None: nowhere.
    """
    if only in (None, "lighthouse"):
        _lighthouse(playwright, url, chats, directory, keep=keep)
    browser = playwright.chromium.launch(executable_path=chromium_path(), args=_arguments())
    if only in (None, "open"):
        _open(browser, url, chats)
    if only in (None, "memory"):
        _memory(browser, url, chats)
    browser.close()


def _make_chats(stack: Stack) -> Chats:
    answer = Path(__file__).parent / "answer.txt"
    printed = stack.run_python(_MAKE_CHATS, MODEL, str(answer), "1000", *["2"] * HOURS)
    name, key, long, *short = printed.split()[-3 - HOURS :]
    return Chats((name, key), long, short)


def _lighthouse(
    playwright: Playwright, url: str, chats: Chats, directory: Path, *, keep: Path | None
) -> None:
    """Each run is in a browser that has just begun, with the files that the one before it kept. In
    one that goes on, Lighthouse first instruments the functions of the page before, on the same
    thread as the page that it measures: up to 160 ms, times four."""
    print_head()
    reports: dict[str, Report] = {}
    for page, path in (
        ("sign-in", "/login"),
        ("a new chat", "/"),
        ("a chat", f"/c/{chats.short[0]}"),
    ):
        cookie = None if path == "/login" else chats.cookie
        for preset, options in PRESETS.items():
            name = f"{page}, {preset}"
            file = (keep or directory) / f"{name.replace(', ', '-').replace(' ', '-')}.json"
            runs = []
            for _ in range(_RUNS.get(name, 1)):
                with _browser_of(playwright, directory / "profile", url, cookie) as port:
                    runs.append(lighthouse_report(f"{url}{path}", port, file, options))
            reports[name] = sorted(runs, key=performance)[len(runs) // 2]
            print_scores(name, reports[name])
    for name, report in reports.items():
        print_long_tasks(name, report)


@contextmanager
def _browser_of(
    playwright: Playwright, profile: Path, url: str, cookie: tuple[str, str] | None
) -> Iterator[int]:
    """A browser with what `profile` keeps, of the person whose `cookie` it is; yields its port."""
    port = free_port()
    context = playwright.chromium.launch_persistent_context(
        profile,
        executable_path=chromium_path(),
        args=[*_arguments(), f"--remote-debugging-port={port}"],
    )
    if cookie is not None:
        context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": url}])
    try:
        yield port
    finally:
        context.close()


def _arguments() -> list[str]:
    precise = "--enable-precise-memory-info"
    return ["--disable-gpu", precise, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


def _signed_in(browser: Browser, url: str, chats: Chats) -> BrowserContext:
    context = browser.new_context(
        base_url=url, viewport={"width": 1440, "height": 900}, service_workers="block"
    )
    name, value = chats.cookie
    context.add_cookies([{"name": name, "value": value, "url": url}])
    return context


def _open(browser: Browser, url: str, chats: Chats) -> None:
    """From the navigation until the last message is drawn, files in the cache as at any visit but
    the first."""
    context = _signed_in(browser, url, chats)
    page = context.new_page()
    chromium = context.new_cdp_session(page)
    taken = []
    for slower in (1, *[_SLOWER] * 5):
        chromium.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        page.goto("/settings")
        page.wait_for_load_state("networkidle")
        page.goto(f"/c/{chats.long}", wait_until="commit")
        taken.append(_drawn_after(page))
    print(f"\nA chat of 1,000 messages at a processor {_SLOWER} times slower is open after")
    print(f"{median(taken[1:]):.0f} ms ({', '.join(f'{one:.0f}' for one in sorted(taken[1:]))})")
    context.close()


def _drawn_after(page: Page) -> float:
    """Milliseconds since the navigation began."""
    after: float = page.evaluate(
        """async () => {
          const drawn = () => [...document.querySelectorAll('article')].some(
            (article) => article.ariaLabel === 'Parley' && article.querySelector('.answer p'));
          const frame = () => new Promise((next) => requestAnimationFrame(next));
          while (!drawn()) await frame();
          await frame();
          return performance.now();
        }"""
    )
    return after


def _memory(browser: Browser, url: str, chats: Chats) -> None:
    """What eight hours of streaming bring, as fast as it comes: each hour a chat is opened that
    gets its answers one after the other; then it is left, and what stays is counted."""
    context = _signed_in(browser, url, chats)
    page = context.new_page()
    chromium = context.new_cdp_session(page)
    chromium.send("Performance.enable")
    page.clock.install()
    page.goto("/")
    print("\n| hours | answers | heap, MB | DOM nodes | listeners | s |", flush=True)
    print("|--:|--:|--:|--:|--:|--:|", flush=True)
    heaps, began = [], time.perf_counter()
    for hour in range(HOURS + 1):
        if hour:
            page.locator(f'a[href="/c/{chats.short[hour - 1]}"]').click()
            page.get_by_role("article").first.wait_for()
            for _ in range(ANSWERS_PER_HOUR):
                _answered(page)
            page.get_by_role("button", name="New chat").first.click()
        page.wait_for_url(f"{url}/")
        # The rest of the hour passes: what is kept for minutes is dropped.
        page.clock.fast_forward("50:00")
        page.wait_for_timeout(1_000)
        heap, counted = _kept(chromium)
        heaps.append(heap)
        after = time.perf_counter() - began
        print(
            f"| {hour} | {hour * ANSWERS_PER_HOUR} | {heap:.1f} | {counted['Nodes']:.0f} |"
            f" {counted['JSEventListeners']:.0f} | {after:.0f} |",
            flush=True,
        )
    # The first hour brings scripts and the caches of the engine.
    slope = linear_regression(range(1, HOURS + 1), heaps[1:]).slope
    print(f"\nAfter the first hour the heap grows by {slope:.2f} MB an hour.")
    context.close()


def _kept(chromium: CDPSession) -> tuple[float, dict[str, float]]:
    """The heap in MB, and Chromium's counts, after what is garbage has been collected."""
    for _ in range(2):  # what the first one finalises, the second one frees
        chromium.send("HeapProfiler.collectGarbage")
    metrics = chromium.send("Performance.getMetrics")["metrics"]
    counted = {one["name"]: one["value"] for one in metrics}
    return counted["JSHeapUsedSize"] / 1e6, counted


def _answered(page: Page) -> None:
    composer = page.get_by_role("textbox", name="Message")
    composer.fill("How does a bicycle stay upright?")
    composer.press("Enter")
    page.get_by_role("button", name="Stop", exact=True).wait_for()
    page.get_by_role("button", name="Send", exact=True).wait_for(timeout=180_000)


if __name__ == "__main__":
    main()
