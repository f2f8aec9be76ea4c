"""The catalogues: complete, current, compiled, and with the placeholders of the texts."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from django.conf import settings
from django.utils.translation import gettext, to_locale

from backend.platform.languages import TAGS, known, writing_in
from infra.messages import (
    LANGUAGES,
    LOCALE,
    ROOT,
    as_mo,
    as_po,
    extracted,
    mo_file,
    po_file,
    stored,
    strings_of,
    updated,
)

PLACEHOLDER = re.compile(r"%\(\w+\)[ds]|%%|\{\w+\}")
# Mails to operators, who work in the admin, which is in English.
ENGLISH = {"billing/reconciliation/watch.py"}
texts_of_the_code = cache(extracted)  # all files, a second
every_language = pytest.mark.parametrize("language", LANGUAGES)


def texts(catalog: Catalog) -> list[Message]:
    return [message for message in catalog if message.id]


def test_each_language_but_english_has_a_catalogue() -> None:
    named = {to_locale(code) for code, _ in settings.LANGUAGES}
    assert named == {*LANGUAGES, "en"} == {to_locale(known(tag)) for tag in TAGS}
    assert {folder.name for folder in LOCALE.iterdir()} == set(LANGUAGES)


@every_language
def test_catalogue_has_the_texts_of_the_code_and_no_others(language: str) -> None:
    assert po_file(language).read_bytes() == as_po(updated(language, texts_of_the_code())), (
        "make messages, then translate what is new"
    )


@every_language
def test_compiled_catalogue_is_that_of_its_source(language: str) -> None:
    assert mo_file(language).read_bytes() == as_mo(stored(language)), "make messages"


@every_language
def test_each_text_is_translated_with_its_placeholders(language: str) -> None:
    catalog = stored(language)
    for message in texts(catalog):
        english = strings_of(message.id)
        translated = strings_of(message.string)
        assert not message.fuzzy
        assert len(translated) == (catalog.num_plurals if message.pluralizable else 1)
        for text in translated:
            # The last is the plural form, which every form of a language stands for.
            assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(english[-1]))
            assert text.strip() and text.endswith("\n") == english[-1].endswith("\n")


@every_language
def test_hardly_a_text_is_the_english_one(language: str) -> None:
    same = [m.id for m in texts(stored(language)) if strings_of(m.string) == strings_of(m.id)]
    # Words that French, Spanish or Portuguese share with English, and a time in Asia's order.
    assert set(same) <= {
        "Plan", "Total %(currency)s", "Page %(number)d", "Subtotal", "%(day)s %(time)s UTC",
    }  # fmt: skip


def test_subjects_and_texts_of_mails_come_from_the_catalogues() -> None:
    found = []
    for package in ("backend", "billing"):
        for path in (ROOT / package).rglob("*.py"):
            if str(path.relative_to(ROOT)) not in ENGLISH:
                found += [f"{path}:{line}" for line in _literal_mails(path)]
    assert found == []


def _literal_mails(path: Path) -> Iterator[int]:
    """Where a mail's subject or text is English as it stands in the call."""
    for call in ast.walk(ast.parse(path.read_text())):
        if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in (
            "mail_queue", "send_mail", "EmailMessage",
        ):  # fmt: skip
            continue
        for keyword in call.keywords:
            if keyword.arg in ("subject", "text", "message", "body") and isinstance(
                keyword.value, ast.Constant
            ):
                yield call.lineno


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("pt", "pt-br"),
        ("pt-PT", "pt-br"),
        ("zh-CN", "zh-hans"),
        ("de-AT", "de"),
        ("", "en"),
        ("tlh", "en"),
        ("no tag", "en"),
    ],
)
def test_nearest_language_is_found(tag: str, name: str) -> None:
    assert known(tag) == name


def test_nothing_is_translated_outside() -> None:
    with writing_in("de"):
        assert gettext("Invoice") == "Rechnung"
    assert gettext("Invoice") == "Invoice"
