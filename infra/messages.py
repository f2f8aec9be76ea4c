"""The catalogues of what is mailed and printed: `make messages`.

Takes the texts out of the Python files, adds what is new to each language's `django.po` and drops
what is gone, then compiles them to `django.mo`, which gettext reads. By babel, since GNU gettext is
not on every machine. tests/platform/test_messages.py holds that both are complete and current.
"""

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "backend" / "locale"
LANGUAGES = ("de", "fr", "es", "pt_BR", "ja", "zh_Hans", "ar")
"""Folders of `LOCALE`; English stands in the code."""
PACKAGES = ("backend", "billing")
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
}


def main() -> None:
    template = extracted()
    for language in LANGUAGES:
        catalog = updated(language, template)
        po_file(language).parent.mkdir(parents=True, exist_ok=True)
        po_file(language).write_bytes(as_po(catalog))
        mo_file(language).write_bytes(as_mo(catalog))
        missing = sum(not all(strings_of(message.string)) for message in catalog if message.id)
        sys.stdout.write(f"{language}: {len(catalog)} texts, {missing} not translated\n")


def extracted() -> Catalog:
    """The texts that the code has, in English."""
    template = Catalog()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            for _, text, comments, context in extract_from_file("python", path, KEYWORDS):
                template.add(text, None, [(name, 1)], auto_comments=comments, context=context)
    return template


def updated(language: str, template: Catalog) -> Catalog:
    """The stored catalogue with the texts of `template`: translated where they were before."""
    catalog = stored(language)
    catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    return catalog


def stored(language: str) -> Catalog:
    if not po_file(language).exists():
        return Catalog(locale=language, project="Parley", fuzzy=False)
    with po_file(language).open("rb") as file:
        return read_po(file, locale=language)


def as_po(catalog: Catalog) -> bytes:
    """By file, without line numbers, so that a change of the code is none of its catalogues."""
    file = io.BytesIO()
    write_po(file, catalog, width=100, sort_by_file=True, include_lineno=False)
    return file.getvalue()


def as_mo(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def strings_of(text: str | tuple[str, ...] | list[str] | None) -> list[str]:
    """Of a message or its translation: one string, or one for each plural form."""
    return list(text) if isinstance(text, (tuple, list)) else [text or ""]


def po_file(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


def mo_file(language: str) -> Path:
    return po_file(language).with_suffix(".mo")


if __name__ == "__main__":
    main()
