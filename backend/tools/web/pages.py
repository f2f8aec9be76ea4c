"""One page of the web as text: read through the guard, parsed where nothing can be reached.

Every redirect is a request of its own to the guard. Whatever a page does wrong ends as ToolFailed
within the timeout.
"""

import asyncio
import codecs
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx2
from django.conf import settings

from backend.platform.guarded_client import guarded_client
from backend.tools.types import ToolFailed, stored_text
from documents.run import document_read
from documents.types import PAGE_TITLE, Kind, UnreadableDocument

MAX_REDIRECTS = 5
WHAT = "The address of a page"

_PARSED: dict[str, Kind] = {
    "text/html": "page",
    "application/xhtml+xml": "page",
    "application/pdf": "pdf",
}
_PLAIN = frozenset({"text/plain", "text/markdown", "text/csv", "application/json"})

# Python's names of the encodings that browsers know (encoding.spec.whatwg.org). It has others of
# the same form that are none of text: rot13, zlib, hex.
_ENCODINGS = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii"),
        *(f"iso8859-{part}" for part in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)),
        *(f"cp{page}" for page in (866, 874, *range(1250, 1259))),
        *("koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "tis-620"),
        *("gb2312", "gbk", "gb18030", "big5", "big5hkscs"),
        *("euc_jp", "iso2022_jp", "shift_jis", "cp932", "euc_kr", "cp949"),
    }
)


@dataclass(frozen=True, slots=True)
class Page:
    """What stands at `url`, which redirects have led to."""

    url: str
    title: str
    text: str


async def page_read(url: str) -> Page:
    """Raises ToolFailed."""
    timeout_s = settings.TOOL_TIMEOUT_S
    try:
        async with asyncio.timeout(timeout_s):
            response = await _answer(url, timeout_s)
            return await _parsed(str(response.url), response)
    except TimeoutError as error:
        raise ToolFailed(f"Timeout after {timeout_s:g} s.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise ToolFailed(f"Page not read: {stored_text(str(error))[:200]}") from error
    except UnreadableDocument as error:
        raise ToolFailed(f"Page not read: {error}") from error


async def _answer(url: str, timeout_s: float) -> httpx2.Response:
    async with guarded_client(
        to_private=False,
        what=WHAT,
        timeout_s=timeout_s,
        headers={"User-Agent": "Parley", "Accept": ", ".join([*_PARSED, *sorted(_PLAIN)])},
        private_hosts=settings.WEB_PRIVATE_HOSTS,
    ) as client:
        for _ in range(MAX_REDIRECTS + 1):
            async with client.stream("GET", _https(url)) as response:
                if not response.is_redirect:
                    if not response.is_success:
                        raise ToolFailed(f"Page not read: HTTP status {response.status_code}.")
                    _type_of(response)  # before its body is waited for
                    await response.aread()
                    return response
                url = urljoin(str(response.url), response.headers["location"])
    raise ToolFailed(f"Page not read: more than {MAX_REDIRECTS} redirects.")


def _https(url: str) -> str:
    """Plain http is tried as https; hosts at home may have nothing else."""
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in settings.WEB_PRIVATE_HOSTS:
        parts = parts._replace(scheme="https")
    return parts.geturl()


def _type_of(response: httpx2.Response) -> str:
    """Raises ToolFailed: it is nothing that is read."""
    kind = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    if kind in _PARSED or kind in _PLAIN:
        return kind
    raise ToolFailed("Page not read: it is neither text, HTML nor PDF.")


def _encoding_of(response: httpx2.Response) -> str:
    """The encoding that the header names; UTF-8 where it is none of text."""
    try:
        name = codecs.lookup(response.charset_encoding or "utf-8").name
    except LookupError:
        return "utf-8"
    return name if name in _ENCODINGS else "utf-8"


async def _parsed(url: str, response: httpx2.Response) -> Page:
    kind = _PARSED.get(_type_of(response))
    response.encoding = _encoding_of(response)
    if kind is None:
        return Page(url, url, stored_text(response.text))
    data = response.content if kind == "pdf" else response.text.encode(errors="replace")
    passages = await asyncio.to_thread(document_read, data, kind)
    title = url
    if kind == "page" and passages[0].place == PAGE_TITLE:
        title, passages = passages[0].text, passages[1:]
    return Page(url, title, stored_text("\n".join(passage.text for passage in passages)))
