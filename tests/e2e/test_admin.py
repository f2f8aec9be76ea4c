"""The staff's site in a real browser: it works without `unsafe-eval`, and violates no policy.

As for the page, every console message, uncaught error and violation fails the test.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.admin.page_code import LISTS, ROWS
from tests.e2e.users import SignUp, Visit
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


ROW = re.compile(r'href="(/admin/[^"?]+/change/)')


def test_every_kind_of_admin_page_obeys_a_policy_without_eval(page: Page, sign_up: SignUp) -> None:
    """Each that has some code that no other has, as tests/admin/test_pages.py makes sure."""
    sign_up().call("POST", "/api/keys", {"name": "Laptop"})
    page.goto("/admin/")
    for name in ROWS:
        path = "/admin/" + name.replace("_", "/") + "/"
        row = ROW.search(page.request.get(path).text())
        assert row, path
        for opened in (path, row[1]) if name in LISTS else (row[1],):
            answer = page.goto(opened)
            assert answer and answer.status == 200, opened
            policy = answer.headers["content-security-policy"]
            assert "script-src 'self';" in policy and "unsafe-eval" not in policy


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
        if theme == "dark":
            page.reload()
            expect(root).to_have_class(classes)

    search = page.locator("#searchbar")
    search.fill("nothing@example.org")
    search.press("Enter")
    page.wait_for_url("**q=nothing*")
    expect(page.locator("#result_list tbody tr")).to_have_count(0)
