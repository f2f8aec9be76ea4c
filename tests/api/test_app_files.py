"""The page's document and the app's manifest, in the language of who asks."""

import httpx
import pytest

from backend.platform.languages import TAGS

ENGLISH = "A chat with models you own."


@pytest.mark.parametrize("language", TAGS)
def test_manifest_is_in_the_language_that_the_page_names(product, language: str) -> None:
    address = f"{product.url}/manifest.webmanifest?language={language}"
    manifest = httpx.get(address, headers={"Accept-Language": "en"}).json()
    assert manifest["lang"] == language
    assert manifest["dir"] == ("rtl" if language == "ar" else "ltr")
    assert (manifest["description"] == ENGLISH) is (language == "en")
    assert manifest["id"] == "/"


@pytest.mark.parametrize(
    ("asked", "named", "language"),
    [("de-AT,en;q=0.5", "", "de"), ("sv", "", "en"), ("", "", "en"), ("ja", "tlh", "ja")],
)
def test_manifest_is_else_in_the_browsers_language(
    product, asked: str, named: str, language: str
) -> None:
    address = f"{product.url}/manifest.webmanifest?language={named}"
    answer = httpx.get(address, headers={"Accept-Language": asked})
    assert answer.json()["lang"] == language
    assert "Accept-Language" in answer.headers["Vary"]


def test_manifest_refuses_post(product) -> None:
    assert httpx.post(f"{product.url}/manifest.webmanifest").status_code == 405


def test_document_has_the_browsers_language_and_a_description_in_it(product) -> None:
    def document(asked: str) -> str:
        return httpx.get(f"{product.url}/login", headers={"Accept-Language": asked}).text

    assert '<html lang="en" dir="ltr">' in document("sv")
    assert 'content="Parley: a chat with models you own."' in document("sv")
    assert '<html lang="ar" dir="rtl">' in document("ar")
    assert "a chat with models you own" not in document("ar")
    assert 'lang="zh-CN"' in document("zh-Hans-SG")
