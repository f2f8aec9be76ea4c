"""What operators put before a person: terms, announcements, a suspension; and the person's way out.

Each page as axe sees it on a phone, and no wider than a phone or a desk.
"""

import json
import re
import secrets
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from django.urls import reverse
from playwright.sync_api import Page, ViewportSize, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_account_security import sign_in
from tests.e2e.users import PASSWORD, Person
from tests.support.outbox import newest_mail
from tests.support.product import Product
from tests.support.staff import Staff

SIZES: dict[str, ViewportSize] = {
    "phone": {"width": 390, "height": 844},
    "desk": {"width": 1280, "height": 800},
}


def assert_accessible_everywhere(page: Page, where: str) -> None:
    """What axe finds at one size and not at another is the layout: every page of the product is
    seen by it on a phone in every run, and at a desk at night (test_accessibility.py)."""
    for device, size in SIZES.items():
        page.set_viewport_size(size)
        if device == "phone":
            assert_accessible(page, f"{where} on a {device}")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], f"{where} is wider than a {device}"
        keep_image(page, f"{where} {device}".replace(" ", "-"))


@contextmanager
def published(product: Product, staff: Staff) -> Iterator[str]:
    """Terms and an announcement, which all people of this product meet meanwhile; their name."""
    name = f"of the test {secrets.token_hex(4)}"
    day = {"0": "2026-01-01", "1": "00:00:00"}
    answers = [
        staff.submit(
            reverse("admin:accounts_termsversion_add"),
            kind="terms",
            version=name,
            summary="We added a sentence.",
            link="https://example.org/terms",
            **{f"effective_at_{part}": value for part, value in day.items()},
        ),
        staff.submit(
            reverse("admin:accounts_announcement_add"),
            title=f"Maintenance {name}",
            text="For an hour.",
            tone="info",
            is_dismissible="on",
            **{f"starts_at_{part}": value for part, value in day.items()},
        ),
    ]
    assert [answer.status_code for answer in answers] == [302, 302], [a.text for a in answers]
    try:
        yield name
    finally:
        for statement in (
            "DELETE FROM accounts_termsacceptance WHERE version_id IN"
            " (SELECT id FROM accounts_termsversion WHERE version = %s) RETURNING id",
            "DELETE FROM accounts_announcementdismissal WHERE announcement_id IN"
            " (SELECT id FROM accounts_announcement WHERE title = 'Maintenance ' || %s)"
            " RETURNING id",
            "DELETE FROM accounts_termsversion WHERE version = %s RETURNING id",
            "DELETE FROM accounts_announcement WHERE title = 'Maintenance ' || %s RETURNING id",
        ):
            product.rows(statement, [name])


def test_person_accepts_terms_reads_news_is_suspended_and_leaves(
    person: Person, live_product: Product
) -> None:
    person.visitor.expect_status(401, 403)
    page, staff = person.page, Staff(live_product)
    organization = person.call("GET", "/api/me")["organization"]["id"]
    with published(live_product, staff) as name:
        heading = page.get_by_role("heading", name="Our terms have changed")
        page.wait_for_function(  # processes know of new terms within five seconds
            "async () => (await (await fetch('/api/me')).json()).pending_terms.length > 0",
            polling=500,
        )
        person.open("/")
        expect(heading).to_be_visible()
        expect(page.get_by_role("link", name=f"Terms of service, version {name}")).to_be_visible()
        assert_accessible_everywhere(page, "the terms")
        page.get_by_role("button", name="I accept").click()
        expect(person.composer).to_be_visible()

        news = page.get_by_role("region", name="Announcements")
        expect(news).to_contain_text("For an hour.")
        assert_accessible_everywhere(page, "an announcement")
        page.get_by_role("button", name=f"Close: Maintenance {name}").click()
        expect(news).to_have_count(0)

    for verb, reason in (("suspend", "Spam was sent."), ("reinstate", "It was cleared up.")):
        answer = staff.submit(
            reverse(f"admin:accounts_organization_{verb}", args=[organization]),
            reason=reason,
            _form_submitted="on",  # a hidden field of unfold's dialogs
        )
        assert answer.status_code == 302, answer.text[:2000]
        person.open("/")
        if verb == "suspend":
            expect(page.get_by_text(f"{reason} Its chats and keys stay")).to_be_visible()
            contact = page.get_by_role("link", name="Contact support")
            expect(contact).to_have_attribute("href", "mailto:help@example.org")
            assert_accessible_everywhere(page, "a suspension")
            keep_image(page, "suspended")
            page.get_by_role("link", name="Invoices and payment").click()
            expect(page.get_by_role("heading", name="Payment method")).to_be_visible()
        else:
            expect(person.composer).to_be_visible()
    staff.close()
    leave(person, live_product)


def leave(person: Person, product: Product) -> None:
    """With a copy of the data first; the certificate comes by mail."""
    page = person.page
    person.open("/settings/privacy")
    page.get_by_role("button", name="Ask for a copy", exact=True).click()
    download = page.get_by_role("list", name="Copies").get_by_role("button", name="Download")
    expect(download).to_be_visible()
    assert_accessible_everywhere(page, "data and privacy")
    with page.expect_download() as saved:
        download.click()
    with zipfile.ZipFile(saved.value.path()) as archive:
        [user] = archive.read("accounts.User.jsonl").splitlines()
        assert "## accounts.User.jsonl" in archive.read("README.md").decode()
    assert json.loads(user)["email"] == person.email
    page.get_by_role("button", name="Delete the account").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Delete for good")).to_be_disabled()
    dialog.get_by_label("Your address").fill(person.email)
    assert_accessible_everywhere(page, "the question before deletion")
    dialog.get_by_role("button", name="Delete for good").click()
    expect(page).to_have_url(re.compile("/login"))
    sign_in(page, person.email, PASSWORD)
    expect(page.get_by_role("alert")).to_contain_text("wrong")
    certificate = newest_mail(product.url, person.email, "Certificate of erasure")
    assert "account.EmailAddress: 1 rows deleted" in certificate
