"""A page of the web by trafilatura: its title and what it is about, without menus and footers."""

from collections.abc import Iterator

from trafilatura import bare_extraction

from documents.formats import html
from documents.passages import clean, passages_of
from documents.types import PAGE_TITLE, Passage


def read(data: bytes) -> Iterator[Passage]:
    """The whole page where nothing of it looks like an article."""
    found = bare_extraction(
        data.decode(errors="replace"), include_comments=False, with_metadata=True, as_dict=True
    )
    document = found if isinstance(found, dict) else {}
    title, text = document.get("title") or "", document.get("text") or ""
    if title:
        yield Passage(PAGE_TITLE, clean(title)[:200])
    if text:
        yield from passages_of("", (clean(line) for line in text.splitlines()))
    else:
        yield from html.read(data)
