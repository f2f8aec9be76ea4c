"""A browser against the running product: real services, real engine, real model.

Every test has people of its own, and fails on any console error, uncaught exception or CSP
violation that it has not announced with `person.expect_status(...)`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from infra.chromium import chromium_path
from tests.e2e.profiles import ARGUMENTS as OF_PROFILES
from tests.e2e.profiles import Profiles
from tests.e2e.users import Person, Visitor
from tests.support.product import Product
from tests.support.scripted import ScriptedProduct
from tests.support.sounds import tone

ARGUMENTS = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Everybody may use the microphone, which plays a tone (test_voice.py): the headless shell has
    # nobody to ask.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives the browser; what does not ask the scripted product is run
    beside the other one."""
    for item in items:
        if "tests/e2e/" in item.nodeid:
            item.add_marker("e2e")
            if "scripted_product" not in getattr(item, "fixturenames", ()):
                item.add_marker("live")


# Not for the whole session: Playwright keeps an event loop in this thread for as long as it
# runs, and the asynchronous tests of other folders need one of their own.
@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = chromium_path()
    if program is None:
        pytest.fail("No browser: install Chromium, or name its program in PARLEY_CHROMIUM.")
    recording = tmp_path_factory.mktemp("microphone") / "tone.wav"
    recording.write_bytes(tone(10, rate=48_000))
    heard = f"--use-file-for-fake-audio-capture={recording}"
    arguments = [
        *ARGUMENTS,
        *OF_PROFILES,
        heard,
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def kept_profiles(browser: Browser) -> Profiles:
    return Profiles(browser)


@contextmanager
def visits(browser: Browser, profiles: Profiles, url: str) -> Iterator[Callable[..., Visitor]]:
    visitors: list[Visitor] = []

    def new_visitor(*, kept: bool = True, **options: Any) -> Visitor:
        visitors.append(Visitor(browser, url, profiles if kept else None, **options))
        return visitors[-1]

    yield new_visitor
    with ExitStack() as leaving:  # all of them, also when one fails
        for visitor in visitors:
            leaving.callback(visitor.leave)


@pytest.fixture
def visit(
    browser: Browser, kept_profiles: Profiles, live_product: Product
) -> Iterator[Callable[..., Visitor]]:
    """Opens a browser profile in which nobody is signed in (options: Browser.new_context). One that
    adds what a profile has for its whole life, as a clock or a script, is not `kept`."""
    with visits(browser, kept_profiles, live_product.url) as new_visitor:
        yield new_visitor


@pytest.fixture
def visit_scripted(
    browser: Browser, kept_profiles: Profiles, scripted_product: ScriptedProduct
) -> Iterator[Callable[..., Visitor]]:
    """As `visit`, at the product whose upstream says what a test has written."""
    with visits(browser, kept_profiles, scripted_product.url) as new_visitor:
        yield new_visitor


@pytest.fixture
def sign_up(visit: Callable[..., Visitor]) -> Callable[..., Person]:
    """Signs a new person up, in a profile of their own."""

    def new_person(**options: object) -> Person:
        return Person(visit(**options))

    return new_person


@pytest.fixture
def person(sign_up: Callable[..., Person]) -> Person:
    """A new person, signed in and on the page of a new chat."""
    user = sign_up()
    user.open("/")
    return user
