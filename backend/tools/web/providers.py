"""Whom a search is sent to. One organization has one provider; its owners and admins choose it.

Sources: docs.searxng.org/dev/search_api; api-dashboard.search.brave.com, "Web Search";
docs.tavily.com, "Search".
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from backend.tools.models import ServerKind
from backend.tools.types import Address

MAX_RESULTS = 8
MAX_TITLE = 200
MAX_SNIPPET = 1_000
MAX_URL = 2_000


@dataclass(frozen=True, slots=True)
class Result:
    """A page that was found, as its provider describes it."""

    title: str
    url: str
    snippet: str


class SearchProvider(Protocol):
    """How one service is asked.

    Attributes:
        url: where it is, unless an organization says otherwise; "" where each has its own.
        needs_key: whether it answers nobody without one.
    """

    url: str
    needs_key: bool

    def request(self, address: Address, query: str) -> httpx2.Request: ...

    def results(self, answer: Any) -> Sequence[Any]:
        """The list in its JSON. Raises LookupError, TypeError: it is not what was expected."""
        ...

    def result(self, found: Any) -> Result: ...


class SearXNG:
    """One's own metasearch. Its `search.formats` must allow json."""

    url = ""
    needs_key = False

    def request(self, address: Address, query: str) -> httpx2.Request:
        headers = {"Authorization": f"Bearer {address.token}"} if address.token else {}
        return httpx2.Request(
            "GET",
            f"{address.url.rstrip('/')}/search",
            params={"q": query, "format": "json"},
            headers=headers,
        )

    def results(self, answer: Any) -> Sequence[Any]:
        return list(answer["results"])

    def result(self, found: Any) -> Result:
        return Result(found["title"], found["url"], found.get("content") or "")


class Brave:
    url = "https://api.search.brave.com/res/v1/web/search"
    needs_key = True

    def request(self, address: Address, query: str) -> httpx2.Request:
        return httpx2.Request(
            "GET",
            address.url,
            params={"q": query, "count": str(MAX_RESULTS), "text_decorations": "false"},
            headers={"X-Subscription-Token": address.token, "Accept": "application/json"},
        )

    def results(self, answer: Any) -> Sequence[Any]:
        return list(answer["web"]["results"]) if "web" in answer else []

    def result(self, found: Any) -> Result:
        snippet = html.unescape(found.get("description") or "")
        return Result(html.unescape(found["title"]), found["url"], snippet)


class Tavily:
    url = "https://api.tavily.com/search"
    needs_key = True

    def request(self, address: Address, query: str) -> httpx2.Request:
        return httpx2.Request(
            "POST",
            address.url,
            json={"query": query, "max_results": MAX_RESULTS},
            headers={"Authorization": f"Bearer {address.token}"},
        )

    def results(self, answer: Any) -> Sequence[Any]:
        return list(answer["results"])

    def result(self, found: Any) -> Result:
        return Result(found["title"], found["url"], found.get("content") or "")


PROVIDERS: dict[str, SearchProvider] = {
    ServerKind.SEARXNG: SearXNG(),
    ServerKind.BRAVE: Brave(),
    ServerKind.TAVILY: Tavily(),
}


def results_read(provider: SearchProvider, answer: Any) -> list[Result]:
    """At most MAX_RESULTS, each once, of those that may be read. Raises LookupError, TypeError."""
    read: dict[str, Result] = {}
    for found in provider.results(answer):
        result = provider.result(found)
        url = str(result.url).strip()
        if may_read(url) and url not in read:
            title = str(result.title)[:MAX_TITLE].strip() or url
            read[url] = Result(title, url, str(result.snippet)[:MAX_SNIPPET].strip())
    return list(read.values())[:MAX_RESULTS]


def may_read(url: str) -> bool:
    """Whether a page there may be read at all, by its address alone."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    at_home = parts.scheme == "http" and parts.hostname in settings.WEB_PRIVATE_HOSTS
    is_plain = url.isprintable() and " " not in url and len(url) <= MAX_URL
    is_web = parts.scheme == "https" or at_home
    return is_plain and is_web and bool(parts.hostname) and not parts.username
