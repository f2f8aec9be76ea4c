"""The staff's site in a real browser: it works without `unsafe-eval`, and violates no policy.

As for the page, every console message, uncaught error and violation fails the test.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.users import Person, Visit
from tests.support.product import Product
from tests.support.staff import Staff


@pytest.fixture
def page(visit: Visit, live_product: Product) -> Iterator[Page]:
    """Signed in as a superuser."""
    visitor = visit()
    staff = Staff(live_product)
    visitor.context.add_cookies(
        [
            {"name": name, "value": value, "url": live_product.url}
            for name, value in staff.cookies.items()
        ]
    )
    staff.close()
    yield visitor.page


def links(page: Page, selector: str) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        selector, "all => all.map(a => new URL(a.href, location).pathname)"
    )
    return sorted({path for path in found if path.startswith("/admin/")})


# What a policy may refuse: scripts and styles, the attributes that hold code, Alpine's among them.
CODE = re.compile(
    r"""<script[^>]*>|<style[^>]*>|\s(?:on\w+|style|x-[\w:.-]+|@[\w.-]+|:[\w-]+)="[^"]*\""""
)
ROW = re.compile(r'href="(/admin/[^"?]+/change/)')


def code_of(html: str) -> set[str]:
    """The code in a page, ids and numbers alike."""
    return {re.sub(r"[0-9a-f-]{8,}|\d+", "0", found) for found in CODE.findall(html)}


def test_every_admin_page_obeys_a_policy_without_eval(page: Page, person: Person) -> None:
    """All are read; opened is each that has some code that none before it had."""
    person.ask()  # so that there are rows
    page.goto("/admin/")
    lists = links(page, "#nav-sidebar-apps a, nav a, aside a")
    assert len(lists) >= 10, lists
    opened: list[str] = []
    seen: set[str] = set()

    def look_at(path: str) -> str:
        answer = page.request.get(path)
        assert answer.status == 200, path
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy and "unsafe-eval" not in policy
        html = answer.text()
        if not code_of(html) <= seen:
            seen.update(code_of(html))
            opened.append(path)
            page.goto(path)
        return html

    for path in lists:
        if row := ROW.search(look_at(path)):
            look_at(row[1])
    assert len(opened) >= 5, opened


def test_admin_theme_menus_search_and_side_bar_work(page: Page) -> None:
    page.goto("/admin/accounts/user/")
    root = page.locator("html")
    for theme, classes in (
        ("dark", re.compile(r"\bdark\b")),
        ("light", re.compile(r"^(?!.*\bdark\b)")),
    ):
        page.locator("[x-on\\:click='openUserLinks = !openUserLinks']").first.click()
        page.locator(f"""[x-on\\:click="switchTheme('{theme}')"]:visible""").first.click()
        expect(root).to_have_class(classes)
        page.reload()
        expect(root).to_have_class(classes)

    search = page.locator("#searchbar")
    search.fill("nothing@example.org")
    search.press("Enter")
    page.wait_for_url("**q=nothing*")
    expect(page.locator("#result_list tbody tr")).to_have_count(0)
