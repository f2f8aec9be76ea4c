"""Files with a hash of their bytes in their name: compressed on disk, kept by browsers for ever."""

import re

import httpx
import pytest

pytestmark = pytest.mark.model

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
    headers = httpx.get(product.url + "/static/app/theme.js").headers
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
