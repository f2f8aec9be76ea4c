"""What browsers and crawlers read of the page before it runs, in their reader's language: its
document and the app's manifest. The language is that of `?language=`, which the page names once it
knows its reader's choice, else the first of Accept-Language that it speaks.
"""

import json
from functools import lru_cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.templatetags.static import static
from django.utils.cache import patch_vary_headers
from django.utils.html import escape
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt

from backend.api.preloads import preloads_for
from backend.platform.languages import ENGLISH, TAGS, asked_in, is_right_to_left, writing_in

_ICONS = (
    ("icon.svg", "any", "image/svg+xml", "any"),
    ("icon-192.png", "192x192", "image/png", "any"),
    ("icon-512.png", "512x512", "image/png", "any"),
    ("icon-maskable-512.png", "512x512", "image/png", "maskable"),
)
_ENGLISH_DOCUMENT = b'<html lang="en">'
_ENGLISH_DESCRIPTION = b'content="Parley: a chat with models you own."'


@csrf_exempt  # it changes nothing: a POST is refused as such, and not for want of a token
async def manifest(request: HttpRequest) -> HttpResponse:
    """The web app manifest (https://www.w3.org/TR/appmanifest/), by which the page is installed."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    asked = request.GET.get("language", "")
    language = asked if asked in TAGS else asked_in(request) or ENGLISH
    response = HttpResponse(
        _manifest_in(language),
        "application/manifest+json",
        headers={"Cache-Control": "no-cache"},
    )
    patch_vary_headers(response, ["Accept-Language"])
    return response


def document_for(request: HttpRequest, file: Path) -> bytes:
    """The built page with its language and description for who asks, and what its address needs
    (preloads.py); its scripts do the rest."""
    language = asked_in(request) or ENGLISH
    document = _document_in(language, file, file.stat().st_mtime_ns)
    preloads = preloads_for(request, file.parent, language)
    return document.replace(b"</head>", f"{preloads}</head>".encode(), 1)


@lru_cache(maxsize=2 * len(TAGS))
def _document_in(language: str, file: Path, modified_ns: int) -> bytes:
    """Read again only when it has changed."""
    with writing_in(language):
        direction = "rtl" if is_right_to_left() else "ltr"
        described = escape(gettext("Parley: a chat with models you own."))
    return (
        file.read_bytes()
        .replace(_ENGLISH_DOCUMENT, f'<html lang="{language}" dir="{direction}">'.encode(), 1)
        .replace(_ENGLISH_DESCRIPTION, f'content="{described}"'.encode(), 1)
    )


@lru_cache(maxsize=len(TAGS))
def _manifest_in(language: str) -> bytes:
    with writing_in(language):
        direction = "rtl" if is_right_to_left() else "ltr"
        described = gettext("A chat with models you own.")
    icons = [
        {"src": static(f"app/{name}"), "sizes": sizes, "type": kind, "purpose": purpose}
        for name, sizes, kind, purpose in _ICONS
    ]
    # The id is the same in every language: it is one app.
    stated = {
        "id": "/",
        "name": "Parley",
        "short_name": "Parley",
        "description": described,
        "lang": language,
        "dir": direction,
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#ffffff",
        "theme_color": "#0d0d0d",
        "icons": icons,
        "share_target": {
            "action": "/share-target",
            "method": "POST",
            "enctype": "application/x-www-form-urlencoded",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
    }
    return json.dumps(stated, ensure_ascii=False).encode()
