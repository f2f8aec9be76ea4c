"""The usage page of somebody with the role `finance`, and of a plain member."""

import csv
import io
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.billing_history import documents, with_history
from tests.e2e.users import Person, SignUp
from tests.support.product import Product


def download(person: Person, name: str) -> bytes:
    with person.page.expect_download() as downloading:
        person.page.get_by_role("link", name=name).click()
    return Path(downloading.value.path()).read_bytes()


def test_finance_sees_budgets_and_downloads_invoices(
    sign_up: SignUp, live_product: Product
) -> None:
    person = sign_up()
    with_history(live_product, person, role="finance")
    person.open("/usage")
    page = person.page

    # They come after the table, and move it.
    meters = page.get_by_role("meter", name="Spent of Whole organization")
    expect(meters).to_have_count(2)
    for budget in person.call("GET", "/api/budgets")["data"]:
        spent = f"${float(budget['spent']):,.2f} of ${float(budget['amount']):,.2f} spent"
        expect(page.get_by_text(spent)).to_be_visible()

    page.get_by_role("radio", name="Member").click()
    names = page.get_by_role("table").get_by_role("rowheader")
    expect(names).to_have_text([person.name, "Grace Hopper"])

    [last, note, earlier] = documents(person)
    rows = page.get_by_role("listitem")
    expect(rows.filter(has_text=last["number"]).first).to_contain_text(f"${last['total']}")
    expect(rows.filter(has_text=last["number"]).first).to_contain_text("Open")
    expect(rows.filter(has_text=f"Credit note for {earlier['number']}")).to_contain_text(
        f"-${note['total'].removeprefix('-')}"
    )
    assert download(person, f"Download {last['number']} as PDF").startswith(b"%PDF")
    text = download(person, f"Download {last['number']} as CSV").decode()
    assert len(list(csv.reader(io.StringIO(text)))) > 1

    person.open("/billing")
    expect(page.get_by_text("Payment is not configured on this installation")).to_be_visible()
    expect(page.get_by_text(f"Invoice {last['number']} is not paid")).to_be_visible()
    page.get_by_label("Country").fill("de")
    page.get_by_label("Legal name").fill("Acme GmbH")
    page.get_by_label("Language of invoices").select_option("de")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Who is invoiced is saved.")).to_be_visible()
    details = person.call("GET", "/api/billing")["details"]
    assert (details["country"], details["legal_name"]) == ("DE", "Acme GmbH")
    assert details["language"] == "de"


def test_member_sees_their_own_usage_and_no_money(sign_up: SignUp, live_product: Product) -> None:
    person = sign_up()
    with_history(live_product, person, role="member")
    used = person.call("GET", "/api/usage?period=last_30_days&group_by=user")
    person.open("/usage")
    page = person.page
    expect(page.get_by_text("Every generation of yours")).to_be_visible()
    expect(page.locator("dl")).to_contain_text("Cost")
    assert [row["label"] for row in used["data"]] == [person.name]
    expect(page.get_by_role("radio", name="Member")).to_have_count(0)
    for heading in ("Budgets this month", "Invoices"):
        expect(page.get_by_role("heading", name=heading)).to_have_count(0)
    expect(page.get_by_role("heading", name=re.compile("Tokens"))).to_be_visible()
