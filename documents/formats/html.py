"""HTML by lxml: what a reader sees, by its headings. Nothing that it names is fetched."""

from collections.abc import Iterator

import lxml.etree
import lxml.html

from documents.passages import clean, passages_of
from documents.types import Passage

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _HEADINGS | {
    *("p", "div", "li", "tr", "table", "section", "article", "header", "footer", "blockquote"),
    *("pre", "dt", "dd", "br", "ul", "ol", "main", "aside", "nav", "figcaption", "body"),
}
_HIDDEN = frozenset({"script", "style", "template", "noscript", "head"})


def read(data: bytes) -> Iterator[Passage]:
    parser = lxml.html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False)
    root = lxml.html.document_fromstring(data, parser=parser)
    place, blocks, line, depth = "", list[str](), list[str](), 0

    def end_line() -> None:
        text = clean(" ".join("".join(line).split()))
        line.clear()
        if text:
            blocks.append(text)

    for event, element in lxml.etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event in {"comment", "pi"}:
            if depth == 0:
                line.append(element.tail or "")
            continue
        tag = element.tag
        if event == "start":
            depth += tag in _HIDDEN
            if depth:
                continue
            if tag in _BLOCKS:
                end_line()
            if tag in _HEADINGS:
                yield from passages_of(place, blocks)
                place, blocks = f"section {clean(element.text_content())}", []
            line.append(element.text or "")
            continue
        depth -= tag in _HIDDEN
        if depth:
            continue
        if tag in _BLOCKS:
            end_line()
        elif tag in {"td", "th"}:
            line.append(" | ")
        line.append(element.tail or "")
    end_line()
    yield from passages_of(place, blocks)
