"""What the page says in other languages, by its catalogues."""

import io
import re
from functools import cache

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from playwright.sync_api import Page

from infra.launcher.frontend import SOURCES


@cache
def catalogue(language: str) -> Catalog:
    text = (SOURCES / "src" / "locales" / f"{language}.po").read_text("utf-8")
    # Lingui leaves fields of the header empty that babel would read.
    return read_po(io.StringIO(re.sub(r'^"[\w-]+: \\n"\n', "", text, flags=re.M)))


def said(language: str, english: str, context: str | None = None) -> str:
    """What the language says for a text of the sources; English says the text itself."""
    if language == "en":
        return english
    message = catalogue(language).get(english, context)
    assert message is not None and isinstance(message.string, str) and message.string, english
    return message.string


def expect_no_english(page: Page, language: str) -> None:
    """No line of the page is a message that the language says in other words."""
    lines = {*page.locator("body").inner_text().splitlines()}
    others = [one for one in catalogue(language) if one.id and one.string not in ("", one.id)]
    assert [one.id for one in others if one.id in lines] == []
