"""What pages and comments name exists: links, headings, files, modules, decisions."""

import re
from collections.abc import Iterable

import pytest

from tests.docs.repository import (
    Text,
    anchors,
    broken_links,
    comments,
    decisions_named,
    files,
    missing_names,
    pages,
)

DECISIONS = {
    match.group(1): name
    for name in files()
    if (match := re.fullmatch(r"docs/decisions/(\d{4})-[a-z0-9-]+\.md", name))
}


def _assert_none(problems: Iterable[str]) -> None:
    """Fails with one problem a line."""
    found = list(problems)
    assert not found, "\n".join(["", *found])


def test_links_of_pages_lead_to_files_and_headings() -> None:
    _assert_none(link for page in pages() for link in broken_links(page))


def test_names_in_pages_are_files_and_modules_of_the_repository() -> None:
    _assert_none(name for page in pages() for name in missing_names(page))


def test_names_in_comments_are_files_and_modules_of_the_repository() -> None:
    missing = (name for text in comments(missing_names) for name in missing_names(text))
    _assert_none(missing)


def test_decisions_that_are_named_have_a_page() -> None:
    unknown = (
        f"{place}: {number}"
        for text in (*pages(), *comments(decisions_named))
        for number, place in decisions_named(text).items()
        if number not in DECISIONS
    )
    _assert_none(unknown)


def test_index_lists_every_decision_once() -> None:
    index = next(page for page in pages() if page.path == "docs/decisions/README.md")
    listed = re.findall(r"\]\(([^)]+\.md)\)", index.text)
    assert sorted(listed) == sorted(name.rpartition("/")[2] for name in DECISIONS.values())


def test_decisions_begin_with_what_is_decided_and_why() -> None:
    for page in pages():
        number = page.path.rpartition("/")[2][:4]
        if DECISIONS.get(number) == page.path:
            assert page.text.startswith(f"# {number}: "), page.path
            assert re.findall(r"^## (.+)", page.text, re.MULTILINE)[:2] == ["Decided", "Why"]


def test_no_figure_rests_on_a_program_that_is_gone() -> None:
    """What a page claims, a command of the repository prints."""
    gone = re.compile(r"throw-?away\s(?:run|script|program|count)")
    claims = (
        page.at(match.start()) for page in pages() for match in gone.finditer(page.text.lower())
    )
    _assert_none(claims)


@pytest.mark.parametrize(
    "text",
    [
        "see `backend/generation/no_such_file.py`",
        "the folder backend/no_such_folder holds it",
        "`stream/no_such_file.py` writes it",
        "no_such_file.py",
        "`infra/no_such_file.toml`",
        "`tests/generation/no_such_*.py`",
        "`billing.budgets.no_such_name`",
        "python -m inference.no_such_module",
    ],
)
def test_name_is_reported_when_nothing_has_it(text: str) -> None:
    assert len(missing_names(Text("page.md", 1, text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`backend/platform/errors.py`, `platform/errors.py` and `errors.py:12`",
        "`backend/generation/` and tests/generation",
        "`backend.platform.errors.ParleyError` in backend.platform",
        "https://example.com/no_such_file.py and ~/no_such_file.py",
        "`backend/static/app/index.html` is built",
    ],
)
def test_name_is_not_reported_when_something_has_it(text: str) -> None:
    assert missing_names(Text("page.md", 1, text)) == []


def test_link_is_reported_when_its_file_or_heading_is_missing() -> None:
    page = Text(
        "docs/page.md", 1, "[a](nowhere.md)\n[b](billing.md#nowhere)\n[c](billing.md#rules)"
    )
    assert broken_links(page) == [
        "docs/page.md:1: nowhere.md",
        "docs/page.md:2: billing.md#nowhere",
    ]


def test_anchors_are_those_of_github() -> None:
    assert anchors("# What `it` does, and why\n```\n# no heading\n```\n") == {
        "what-it-does-and-why"
    }


def test_decisions_are_found_in_lists_and_over_line_ends() -> None:
    text = Text(
        "billing/x.py", 1, "decisions 0040, 0041 and 0042; docs/decisions/0043; decision\n# 0044"
    )
    assert sorted(decisions_named(text)) == ["0040", "0041", "0042", "0043", "0044"]
