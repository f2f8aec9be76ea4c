"""Languages that people are written to in, and how each writes days, numbers and money.

The product itself answers in English: no middleware chooses a language, and gettext translates
only inside `writing_in`, which holds what is mailed and printed. English dates are ISO 8601, as
in the API; the others are as the CLDR has them (by babel).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal

from babel import Locale
from babel.dates import format_date, format_skeleton, format_time
from babel.numbers import format_decimal
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import (
    get_language_from_request,
    get_supported_language_variant,
    gettext,
    to_locale,
)

ENGLISH = "en"
TAGS = ("en", "de", "fr", "es", "pt", "ja", "zh-CN", "ar")
"""BCP 47, as the page names them. `pt` is Brazil's."""


def known(language: str) -> str:
    """Django's name of the language that is nearest to a BCP 47 tag; English where there is none,
    as for the empty one."""
    try:
        return get_supported_language_variant(language.lower()) if language else ENGLISH
    except LookupError:
        return ENGLISH


def asked_in(request: HttpRequest) -> str:
    """One of `TAGS`, by the request's Accept-Language, which the page sends; empty without."""
    if not request.headers.get("Accept-Language"):
        return ""
    found = get_language_from_request(request)
    return {"pt-br": "pt", "zh-hans": "zh-CN"}.get(found, found)


@contextmanager
def writing_in(language: str) -> Iterator[None]:
    """Translate what is made inside: gettext's texts, and the functions below."""
    with translation.override(known(language)):
        yield


def locale() -> Locale:
    return Locale.parse(to_locale(translation.get_language() or ENGLISH))


def is_right_to_left() -> bool:
    return locale().text_direction == "rtl"


def day(moment: date) -> str:
    """`2026-11-30`, `30. November 2026`, `2026年11月30日`."""
    return format_date(moment, "yyyy-MM-dd" if _is_english() else "long", locale())


def month(moment: date) -> str:
    """`November 2026`, `2026年11月`."""
    return format_skeleton("yMMMM", moment, locale=locale())


def minute(moment: datetime) -> str:
    """With its time zone, which is UTC."""
    moment = moment.astimezone(UTC)
    time = format_time(moment, "HH:mm", tzinfo=UTC, locale=locale())
    return gettext("%(day)s %(time)s UTC") % {"day": day(moment), "time": time}


def number(value: Decimal | int, pattern: str = "#,##0") -> str:
    """By a pattern of the CLDR; digits are those of the invoice's numbers, 0 to 9."""
    written = format_decimal(value, pattern, locale(), numbering_system="latn")
    return written.replace("\u202f", "\u00a0")  # France's narrow space, which few fonts have


def _is_english() -> bool:
    return locale().language == ENGLISH
