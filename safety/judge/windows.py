"""Which places of untrusted content read like orders, so that a model is given the rest.

A text is read as a whole first. Where that finds orders, it is cut into windows of whole paragraphs
and lines, and each is read by itself, more strictly: there are orders in it somewhere. What is left
is read again as a whole; orders that no window shows, or that are still there, withhold all of it.

A text of one window is cut into sentences, and more is left out of it: from the first that is
suspected in the least to the last, and those beside them, as an order may take several sentences.
"""

import re
from collections.abc import Callable, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

from safety.score.detect import examine_untrusted
from safety.taxonomy import Category

SUSPECT_FROM = 0.5
"""Score from which a window is withheld of a text that holds orders; alone it would be marked."""

SENTENCE_SUSPECT_FROM = 0.2
"""Of a sentence, alone or with the next one, in a text of one window."""

MAX_SENTENCES = 24
"""Of a short text; one of more is withheld whole, as each costs two readings."""

MIN_WINDOW, MAX_WINDOW = 200, 600
"""Characters. A window ends with a paragraph or a line, a longer line is cut between sentences or
words."""

_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|(?<=[\u3002\uff01\uff1f])")
_SENTENCE_OR_LINE = re.compile(rf"{_SENTENCE.pattern}|\n+")
_WORD = re.compile(r"\s+")


class Span(NamedTuple):
    """Characters `start` to `end` of a text."""

    start: int
    end: int


def order_spans(content: str, *, threshold: float, owner: str | None = None) -> list[Span]:
    """The places of `content` that no model is given, in order and apart: none where its score is
    below `threshold`, one of everything where the orders are not found in a place. CPU-bound.

    Args:
        owner: whose content it is, see `examine`.
    """

    def score(text: str) -> float:
        return injection_score(text, owner=owner)

    if score(content) < threshold:
        return []
    windows = windows_of(content)
    if len(windows) == 1:
        spans = _spans_of_sentences(content, score)
        has_rest = spans and score(without(content, spans, mark="\n")) < SUSPECT_FROM
        return spans if has_rest else windows
    found = [one for one in windows if score(content[one.start : one.end]) >= SUSPECT_FROM]
    for withheld in (found, _widened(found, windows)):
        spans = _joined(withheld)
        if spans and score(without(content, spans, mark="\n")) < threshold:
            return spans
    return [Span(0, len(content))]


def _spans_of_sentences(content: str, score: Callable[[str], float]) -> list[Span]:
    """From the first sentence of a short text that reads like orders to the last, and those beside
    them; none where there are too many. Two that do so only together are both found."""
    ends = [found.end() for found in _SENTENCE_OR_LINE.finditer(content)]
    borders = dict.fromkeys((0, *ends, len(content)))
    sentences = [Span(start, end) for start, end in pairwise(borders)]
    if len(sentences) > MAX_SENTENCES:
        return []
    alone = [score(content[one.start : one.end]) >= SENTENCE_SUSPECT_FROM for one in sentences]
    found = set(compress(sentences, alone))
    for (one, two), known in zip(pairwise(sentences), pairwise(alone), strict=True):
        if not any(known) and score(content[one.start : two.end]) >= SENTENCE_SUSPECT_FROM:
            found |= {one, two}
    return _hull(_widened(sorted(found), sentences))


def _hull(spans: Sequence[Span]) -> list[Span]:
    """One from the first of `spans` to the last: what is between an order's sentences is of it."""
    return [Span(spans[0].start, spans[-1].end)] if spans else []


def without(content: str, spans: Sequence[Span], *, mark: str) -> str:
    """`content` with `mark` in place of each of `spans`."""
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(content)]
    kept = [content[end:start] for end, start in zip(ends, starts, strict=True)]
    return mark.join(kept)


def injection_score(content: str, *, owner: str | None = None) -> float:
    """How likely `content` tries to give orders to a model, 0..1. `owner`: see `examine`."""
    return examine_untrusted(content, owner=owner).scores.get(Category.PROMPT_INJECTION, 0.0)


def windows_of(content: str) -> list[Span]:
    """`content` in windows, without a gap."""
    windows: list[Span] = []
    begun = 0
    for start, end in _parts(content):
        if start > begun and end - begun > MAX_WINDOW:
            windows.append(Span(begun, start))
            begun = start
        ends_paragraph = _PARAGRAPH.search(content, max(start, end - 4), end) is not None
        if ends_paragraph and end - begun >= MIN_WINDOW:
            windows.append(Span(begun, end))
            begun = end
    if begun < len(content):
        windows.append(Span(begun, len(content)))
    return windows


def _parts(content: str) -> list[Span]:
    """Lines, and of those that are longer than a window sentences, words, or what there is."""
    parts = [Span(0, len(content))]
    for border in (
        _PARAGRAPH,
        re.compile(r"\n"),
        _SENTENCE,
        _WORD,
        re.compile(f".{{{MAX_WINDOW}}}"),
    ):
        parts = [part for whole in parts for part in _cut(content, whole, border)]
    return parts


def _cut(content: str, one: Span, border: re.Pattern[str]) -> list[Span]:
    if one.end - one.start <= MAX_WINDOW:
        return [one]
    ends = [found.end() for found in border.finditer(content, one.start, one.end)]
    borders = dict.fromkeys((one.start, *ends, one.end))
    return [Span(start, end) for start, end in pairwise(borders)]


def _widened(found: Sequence[Span], windows: Sequence[Span]) -> list[Span]:
    """`found` with the windows beside them: an order may go over a border."""
    wanted = set(found)
    return [
        one
        for number, one in enumerate(windows)
        if wanted.intersection(windows[max(0, number - 1) : number + 2])
    ]


def _joined(spans: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1].end == span.start:
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined
