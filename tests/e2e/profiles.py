"""Profiles of the browser that are kept for the tests to come.

Half of what an opened page costs is Chromium's beginning: a process, and scripts that it compiles.
A kept profile has both behind it. What belongs to a person or a page does not stay in it: each
visitor gets a new tab, with storage, cookies, permissions, routes and connection as in a new
profile (test_profiles.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

# All pages of a site are in one process, which lives as long as one of them does.
ARGUMENTS = ("--process-per-site",)
# Who asks for anything else, as another language or a service worker, gets a new one.
_KEPT = {
    *("viewport", "device_scale_factor", "has_touch", "is_mobile"),
    *("color_scheme", "reduced_motion"),
}
# Answers of the server that have come before, and what was compiled of them, are left.
_EMPTIED = "cookies,local_storage,indexeddb,file_systems,service_workers,cache_storage,websql"
_QUIET = "/static/app/icon.svg"


@dataclass(frozen=True, slots=True)
class Profile:
    """Attributes:
    context: whose tabs are a visitor's, but for one.
    keeper: that one, in which nothing runs: it holds the process.
    """

    context: BrowserContext
    keeper: Page

    def tabs(self) -> list[Page]:
        return [page for page in self.context.pages if page is not self.keeper]


class Profiles:
    """Those of one browser. Each has one visitor at a time."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Profile]] = {}
        self._lent: dict[BrowserContext, tuple[str, Profile]] = {}

    @staticmethod
    def keeps(options: Iterable[str]) -> bool:
        """Whether a visitor with these options (`Browser.new_context`) may have a kept one."""
        return _KEPT.issuperset(options)

    def lend(self, url: str, options: dict[str, Any]) -> BrowserContext:
        """A profile for a visitor of the product at `url`, empty."""
        kind = repr((url, sorted(options.items())))
        free = self._free.setdefault(kind, [])
        profile = free.pop() if free else self._new(options)
        self._lent[profile.context] = kind, profile
        _empty(profile, url)
        return profile.context

    def tabs(self, context: BrowserContext) -> list[Page]:
        """The visitor's."""
        _, profile = self._lent[context]
        return profile.tabs()

    def take_back(self, context: BrowserContext) -> None:
        kind, profile = self._lent.pop(context)
        for tab in profile.tabs():
            tab.close()
        self._free[kind].append(profile)

    def _new(self, options: dict[str, Any]) -> Profile:
        context = self._browser.new_context(**options)
        keeper = context.new_page()
        keeper.goto(_QUIET)
        return Profile(context, keeper)


def _empty(profile: Profile, url: str) -> None:
    context = profile.context
    context.unroute_all()
    context.set_offline(False)
    context.clear_permissions()
    context.clear_cookies()
    chromium = context.new_cdp_session(profile.keeper)
    chromium.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": _EMPTIED})
    chromium.detach()
