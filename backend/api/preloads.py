"""What the document of a chat names in its head, so that nothing is asked for one after the other:
the scripts that its address will need, and the script that asks for the first answers of the API.

Only for a request with a session: a visitor who has none is led to the sign-in, which needs less.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from backend.platform.languages import ENGLISH

# The names of frontend/vite.files.ts.
_PARTS: list[tuple[re.Pattern[str], tuple[str, ...]]] = [
    (re.compile(r"/c/[0-9a-f-]{36}$"), ("chat", "answers")),
    (re.compile(r"/(a/[0-9a-f-]{36})?$"), ("chat",)),
]


def preloads_for(request: HttpRequest, built: Path, language: str) -> str:
    """Elements for the head of the document; empty where nothing is known to be needed.

    Args:
        built: the folder of the built page.
        language: that of the document, as the page names it.
    """
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return ""
    parts = next((parts for path, parts in _PARTS if path.match(request.path)), ())
    manifest = built / ".vite" / "manifest.json"
    if not parts or not manifest.is_file():
        return ""
    return _elements(manifest, manifest.stat().st_mtime_ns, parts, language)


@lru_cache(maxsize=32)
def _elements(manifest: Path, modified_ns: int, parts: tuple[str, ...], language: str) -> str:
    """Made again only when the page is another build's."""
    chunks = json.loads(manifest.read_bytes())
    entries = [key for key, chunk in chunks.items() if chunk.get("name") in parts]
    if language != ENGLISH:
        entries += [f"src/locales/{language}.po?{part}" for part in ("first", "rest")]
    # The document names the entry's own scripts itself.
    named = _files(chunks, ["index.html"])
    files = [one for one in _files(chunks, entries) if one not in named]
    # As the scripts themselves name each other: without the hash that `static()` may add.
    folder = f"{settings.STATIC_URL}app"
    asks = f'<script async src="{folder}/first-requests.js"></script>'
    link = '<link rel="modulepreload" crossorigin href="{}/{}">'
    return "".join([asks, *(link.format(folder, one) for one in files)])


def _files(chunks: dict[str, dict[str, Any]], entries: list[str]) -> list[str]:
    """The files of `entries` and of all that they import, each once."""
    found: dict[str, str] = {}
    left = list(entries)
    while left:
        name = left.pop()
        if name in found or name not in chunks:
            continue
        found[name] = chunks[name]["file"]
        left += chunks[name].get("imports", [])
    return list(dict.fromkeys(found.values()))
