"""The headers of a response, added and read as Django keeps them.

Django checks and converts name and value of each header at every turn, six calls for one of
two dozen. What is added here is the product's own, the same for every answer of a kind, and has
been through that check once.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http.response import HttpResponseBase, ResponseHeaders

Checked = Mapping[str, tuple[str, str]]
"""Headers as Django keeps them: by the name in lower case, with name and value."""


def checked(headers: Mapping[str, str]) -> Checked:
    """Raises BadHeaderError where one could be two."""
    return _kept(ResponseHeaders(headers))


def add_missing(response: HttpResponseBase, headers: Checked) -> None:
    """Add those of `headers` that the response has none of."""
    kept = _kept(response.headers)
    for name, pair in headers.items():
        kept.setdefault(name, pair)


def pairs_of(response: HttpResponseBase) -> Iterable[tuple[str, str]]:
    """Each header's name and value."""
    return _kept(response.headers).values()


def _kept(headers: Any) -> dict[str, tuple[str, str]]:
    kept: dict[str, tuple[str, str]] = headers._store
    return kept
