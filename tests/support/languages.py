"""Tests that are repeated for each language that the product speaks."""

import pytest

from backend.platform.languages import TAGS

# An alphabet, a script with a font of its own, and one that is written from the right.
EVERY_RUN = ("de", "ja", "ar")


def in_languages(beside: str) -> pytest.MarkDecorator:
    """`parametrize` by "tag": some languages in every run, the others at night. Whether each has
    all texts is tested in every run (tests/platform/test_messages.py).

    Args:
        beside: the test itself.
    """
    night = pytest.mark.nightly(beside=beside)
    return pytest.mark.parametrize(
        "tag", [pytest.param(tag, marks=() if tag in EVERY_RUN else night) for tag in TAGS]
    )
