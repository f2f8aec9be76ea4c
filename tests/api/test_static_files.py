"""Files with a hash of their bytes in their name: compressed on disk, kept by browsers for ever."""

import re
import threading
from typing import Any, cast

import httpx
import pytest
from django.conf import settings

from backend.api.asgi import RequestGuard
from backend.api.body_doors import door_for
from backend.api.handler import Handler

pytestmark = pytest.mark.model

THEME = "/static/app/theme.js"

# Bytes; compressed it may be larger, and is then left as it is.
TOO_SMALL = 512
FOREVER = "max-age=315360000, public, immutable"


def bundled_files(product):
    """URLs of the scripts and styles that the page's index names."""
    html = httpx.get(product.url + "/").text
    return re.findall(r'(?:src|href)="(/static/app/assets/[^"]+)"', html)


def test_bundled_files_are_immutable(product):
    files = bundled_files(product)
    assert any(file.endswith(".js") for file in files)
    assert any(file.endswith(".css") for file in files)
    for file in files:
        assert httpx.get(product.url + file).headers["Cache-Control"] == FOREVER, file


def test_files_hashed_by_django_are_immutable(product):
    html = httpx.get(product.url + "/docs").text
    (script,) = re.findall(r"(/static/ninja/swagger-ui-bundle\.[0-9a-f]{12}\.js)", html)
    assert httpx.get(product.url + script).headers["Cache-Control"] == FOREVER


def test_file_without_hash_is_revalidated(product):
    headers = httpx.get(product.url + THEME).headers
    assert headers["Cache-Control"] == "max-age=3600, public"


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_bundled_files_are_sent_compressed(product, encoding):
    for file in bundled_files(product):
        answer = httpx.get(product.url + file, headers={"Accept-Encoding": encoding})
        plain = httpx.get(product.url + file, headers={"Accept-Encoding": "identity"})
        if len(plain.content) < TOO_SMALL:
            continue
        assert answer.headers["Content-Encoding"] == encoding, file
        assert int(answer.headers["Content-Length"]) < int(plain.headers["Content-Length"])
        assert answer.content == plain.content


def test_file_that_a_browser_has_is_not_sent_again(product):
    etag = httpx.get(product.url + THEME).headers["ETag"]
    answer = httpx.get(product.url + THEME, headers={"If-None-Match": etag})
    assert (answer.status_code, answer.content) == (304, b"")


def test_part_of_a_file_is_sent_where_it_is_asked_for(product):
    plain = {"Accept-Encoding": "identity"}
    whole = httpx.get(product.url + THEME, headers=plain).content
    answer = httpx.get(product.url + THEME, headers={**plain, "Range": "bytes=3-12"})
    assert (answer.status_code, answer.content) == (206, whole[3:13])


def test_head_says_how_long_a_file_is(product):
    answer = httpx.head(product.url + THEME, headers={"Accept-Encoding": "identity"})
    whole = httpx.get(product.url + THEME, headers={"Accept-Encoding": "identity"})
    assert (answer.content, answer.headers["Content-Length"]) == (b"", str(len(whole.content)))


def test_file_of_megabytes_is_sent_whole(product):
    [interpreter] = settings.BASE_DIR.glob("backend/static/app/assets/pyodide.asm-*.wasm")
    url = f"{product.url}/static/app/assets/{interpreter.name}"
    answer = httpx.get(url, headers={"Accept-Encoding": "identity"})
    assert len(answer.content) > 1_000_000
    assert answer.content == interpreter.read_bytes()


async def test_file_starts_no_thread(static_files, monkeypatch):
    started = []
    start = threading.Thread.start

    def note(thread):
        started.append(thread.name)
        start(thread)

    transport = httpx.ASGITransport(app=RequestGuard(cast(Any, Handler()), (), door_for))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as browser:
        monkeypatch.setattr(threading.Thread, "start", note)
        answer = await browser.get(THEME)
    assert answer.content == (settings.STATIC_ROOT / "app" / "theme.js").read_bytes()
    assert answer.headers["X-Request-Id"] and answer.headers["Content-Security-Policy"]
    assert started == []
