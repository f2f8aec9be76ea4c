"""The tools `search` and `fetch`, and which pages may be opened.

`fetch` opens what a search of the same chat has found, or what its person has written; nothing
that a model has put together. Text that a model reads may be an attack, and an address of the
attacker's own would carry the chat away in its query.
"""

import asyncio
import re
from typing import Any
from uuid import UUID

import httpx2
from django.conf import settings

from backend.conversations.models import Message, MessageRole
from backend.platform.database import in_database
from backend.platform.guarded_client import guarded_client
from backend.tools.models import CallStatus, ToolCall
from backend.tools.types import (
    SEARCH_ERROR,
    SEARCH_WHAT,
    TO_PRIVATE_SWITCH,
    Address,
    FoundTool,
    Made,
    Source,
    ToolFailed,
    cut,
    stored_text,
)
from backend.tools.web.pages import page_read
from backend.tools.web.providers import PROVIDERS, Result, results_read

MAX_QUERY = 400


def _tool(name: str, title: str, description: str, argument: str, meaning: str) -> FoundTool:
    return FoundTool(
        name=name,
        title=title,
        description=description,
        input_schema={
            "type": "object",
            "properties": {argument: {"type": "string", "description": meaning}},
            "required": [argument],
        },
        claims_read_only=True,
        claims_destructive=False,
    )


TOOLS = [
    _tool(
        "search",
        "Search the web",
        "Search the web for what is recent or not known. Returns pages with their addresses.",
        "query",
        "What to look for, in a few words.",
    ),
    _tool(
        "fetch",
        "Read a page",
        "Read a page that a search has found, or whose address the user has written.",
        "url",
        "The address of the page, exactly as it was found.",
    ),
]


async def web_call(
    kind: str, address: Address, name: str, arguments: dict[str, Any], *, conversation_id: UUID
) -> Made:
    """What a web tool says. Raises ToolFailed."""
    if name == "search":
        return _listed(await web_search(kind, address, _argument(arguments, "query")[:MAX_QUERY]))
    url = _argument(arguments, "url").partition("#")[0]
    if not await in_database(_may_open, conversation_id, url):
        raise ToolFailed("Page not read: unknown address.")
    page = await page_read(url)
    source = Source(title=page.title, url=page.url)
    return Made(cut(f"{page.title}\n{page.url}\n\n{page.text}"), [source])


async def web_search(kind: str, address: Address, query: str) -> list[Result]:
    """Raises ToolFailed."""
    provider = PROVIDERS[kind]
    timeout_s = settings.TOOL_TIMEOUT_S
    try:
        async with (
            asyncio.timeout(timeout_s),
            guarded_client(
                to_private=settings.TOOLS_TO_PRIVATE,
                what=SEARCH_WHAT,
                timeout_s=timeout_s,
                switch=TO_PRIVATE_SWITCH,
            ) as client,
        ):
            response = await client.send(provider.request(address, query))
    except TimeoutError as error:
        raise ToolFailed(f"Timeout after {timeout_s:g} s.", code="tool_timeout") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise ToolFailed(f"{SEARCH_ERROR}: {stored_text(str(error))[:200]}") from error
    if not response.is_success:
        raise ToolFailed(f"{SEARCH_ERROR}: HTTP status {response.status_code}.")
    try:
        return results_read(provider, response.json())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ToolFailed(f"{SEARCH_ERROR}: the answer is no list of results.") from error


def _argument(arguments: dict[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolFailed(f"Not called: {name} is missing.")
    return value.strip()


def _listed(results: list[Result]) -> Made:
    if not results:
        return Made("(no results)", [])
    text = "\n\n".join(f"{one.title}\n{one.url}\n{one.snippet}" for one in results)
    sources = [Source(title=stored_text(one.title), url=one.url) for one in results]
    return Made(cut(stored_text(text)), sources)


def _may_open(conversation_id: UUID, url: str) -> bool:
    """Whether a search found `url` as it is, or the chat's person wrote it."""
    if not url.isprintable():
        return False
    found = ToolCall.objects.filter(
        round__message__conversation_id=conversation_id,
        tool__name="search",
        status=CallStatus.DONE,
        sources__contains=[{"url": url}],
    )
    return found.exists() or _is_typed(conversation_id, url)


def _is_typed(conversation_id: UUID, url: str) -> bool:
    """People leave out the scheme, and a slash at the end. What goes on after `url` is another
    address, but for the punctuation of a sentence and scripts that write without spaces."""
    plain = url.removeprefix("https://").removeprefix("http://").rstrip("/")
    if not plain:
        return False
    texts = Message.objects.filter(
        conversation_id=conversation_id, role=MessageRole.USER, text__contains=plain
    ).values_list("text", flat=True)
    whole = typed_address(plain)
    return any(whole.search(text) for text in texts)


def typed_address(plain: str) -> re.Pattern[str]:
    """Finds `plain` where it is the whole address. So much punctuation ends no sentence that more
    of it would have to be looked through at each place."""
    sentence_end = r"(?=[^\w\s]{0,8}(?:\s|$|[^\x00-\x7f]))"
    return re.compile(
        rf"(?<![\w.@/-])(?:https?://)?{re.escape(plain)}/?{sentence_end}",
        re.ASCII,
    )
