"""The close is exact, happens once, and what was issued stays as it is."""

import io
import re
import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction
from pypdf import PdfReader

from backend.accounts.models import Project
from backend.platform.errors import Conflict, InvalidRequest
from billing.budgets.credit import credit_state
from billing.invoices import closing
from billing.invoices.closing import MonthNotOver, UnpricedUsageError, invoice_close
from billing.invoices.csv import invoice_csv
from billing.invoices.fonts import printable
from billing.invoices.layout import BODY
from billing.invoices.pdf import invoice_pdf
from billing.invoices.selectors import invoices_list
from billing.invoices.services import (
    close_and_issue_month,
    credit_note_create,
    invoice_pay,
    invoice_void,
)
from billing.models import BillingAccount, CreditEntry, Invoice, UsageRecord
from billing.periods import Period, parse_period
from billing.prices import Tier
from billing.prices.services import BEGINNING, prices_seed, prices_set
from billing.quantities import Kind
from billing.rounding import to_cents
from billing.selectors import usage_summary
from billing.taxes import parse_taxes
from tests.billing import factories
from tests.billing.invoicing import NOVEMBER, NOW, OCTOBER, PRICES, close, give_credit, issue, use

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller():
    prices_seed(prices=PRICES)
    return factories.principal()


def test_invoice_has_a_line_for_each_project_and_model_and_is_rounded_once(caller):
    other = Project.objects.create(organization_id=caller.organization_id, name="Search")
    for project_id in (caller.project_id, other.id):
        for _ in range(3):
            use(caller, 1, project_id=project_id)
    invoice = close(caller)
    assert [(line.project_name, line.requests, line.amount) for line in invoice.lines.all()] == [
        ("Default", 3, Decimal("0.015")),
        ("Search", 3, Decimal("0.015")),
    ]
    assert invoice.subtotal == invoice.total == Decimal("0.03")  # and not 0.02 + 0.02


def test_invoice_total_equals_the_usage_page(caller):
    for n in range(20):
        use(caller, n * 7, day=1 + n)
    summary = usage_summary(organization_id=caller.organization_id, period="2026-10")
    assert summary.cost_usd == sum(line.amount for line in close(caller).lines.all())


def test_second_close_gives_the_same_invoice(caller):
    use(caller, 100)
    first = close(caller)
    again = close(caller)
    assert again.pk == first.pk
    assert Invoice.objects.count() == 1
    assert UsageRecord.objects.get().invoice_id == first.pk


def test_usage_that_comes_after_the_close_goes_to_the_next_invoice_marked(caller):
    use(caller, 100)
    october = close(caller)
    use(caller, 40)
    use(caller, 10, month=11)
    assert close(caller).total == october.total == Decimal("0.50")
    november = close(caller, NOVEMBER)
    assert [(f"{x.usage_month:%m}", x.is_late, x.output_tokens) for x in november.lines.all()] == [
        ("10", True, 40),
        ("11", False, 10),
    ]
    assert "yes" in invoice_csv(november)


def test_late_usage_is_priced_at_the_tier_that_its_month_had_reached():
    """However usage is spread over invoices, the month's volume costs the same."""
    tiers = (Tier(0, Decimal(10)), Tier(100, Decimal(1)))
    prices_set(
        model=factories.MODEL,
        prices={Kind.INPUT: tiers, Kind.OUTPUT: tiers},
        effective_from=BEGINNING,
    )
    caller = factories.principal()
    use(caller, 90, day=20)
    first = close(caller)
    use(caller, 90, day=2)
    second = close(caller, NOVEMBER)
    amounts = [line.amount for invoice in (first, second) for line in invoice.lines.all()]
    assert sum(amounts) == Decimal("1.00") + Decimal("0.08")


def test_month_that_is_not_over_cannot_be_closed(caller):
    with pytest.raises(MonthNotOver):
        invoice_close(
            organization_id=caller.organization_id,
            month=OCTOBER,
            now=OCTOBER.end - timedelta(seconds=1),
        )


def test_month_without_usage_gives_no_invoice(caller):
    organization_id = caller.organization_id
    assert invoice_close(organization_id=organization_id, month=OCTOBER, now=NOW) is None


def test_month_with_unpriced_usage_closes_once_it_is_priced(caller):
    use(caller, 10, model="unpriced")
    with pytest.raises(UnpricedUsageError, match="unpriced"):
        close(caller)
    assert invoices_list(principal=caller).items == []
    issued, problems = close_and_issue_month(month=OCTOBER, now=NOW)
    assert issued == 0
    assert "unpriced" in problems[0]
    prices_seed(prices={"unpriced": PRICES[factories.MODEL]})
    assert close(caller).subtotal == Decimal("0.05")


def test_failure_of_one_close_stops_no_other(caller, monkeypatch):
    use(caller, 10)
    other = factories.principal()
    use(other, 10)
    draft = closing._draft

    def fail_once(invoice: Invoice, month: Period) -> None:
        if invoice.organization_id == caller.organization_id:
            raise DatabaseError("the disk is full")
        draft(invoice, month)

    monkeypatch.setattr(closing, "_draft", fail_once)
    issued, [problem] = close_and_issue_month(month=OCTOBER, now=NOW)
    assert issued == 1
    assert "the disk is full" in problem and str(caller.organization_id) in problem


def test_invoice_numbers_of_the_seller_have_no_gaps(caller):
    other = factories.principal()
    for who in (caller, other):
        use(who, 10)
        use(who, 10, month=11)
    for who in (caller, other):
        with pytest.raises(RuntimeError), transaction.atomic():
            issue(who)
            raise RuntimeError("the number goes back")
    assert close_and_issue_month(month=OCTOBER, now=NOW) == (2, [])
    assert close_and_issue_month(month=OCTOBER, now=NOW) == (0, [])
    assert close_and_issue_month(month=NOVEMBER, now=NOW) == (2, [])
    issued = Invoice.objects.order_by("number")
    assert [invoice.reference for invoice in issued] == [f"INV-00000{n}" for n in (1, 2, 3, 4)]
    # Of customers whose ids begin alike, as before there was a series, no two documents do.
    assert {invoice.organization_id for invoice in issued[:2]} == {
        caller.organization_id,
        other.organization_id,
    }


def test_tax_and_the_sellers_tax_id_follow_the_customers_country(caller, settings):
    settings.BILLING_TAX_RATE = Decimal("0.05")
    settings.BILLING_TAXES = parse_taxes("DE=0.19:DE123456789, CH=0.081")
    settings.BILLING_SELLER_TAX_ID = "GENERAL"
    for country, rate, seller_id in (
        ("DE", "0.19", "DE123456789"),
        ("CH", "0.081", "GENERAL"),
        ("US", "0.05", "GENERAL"),
    ):
        who = factories.principal()
        BillingAccount.objects.create(organization_id=who.organization_id, country=country)
        use(who, 20_000)
        invoice = issue(who)
        assert (invoice.tax_rate, invoice.tax) == (
            Decimal(rate),
            to_cents(100 * Decimal(rate), "USD"),
        )
        assert invoice.seller["tax_id"] == seller_id


@pytest.mark.parametrize("text", ["DE", "DE=x", "DE=2", "de=0.1", "DE=-0.1"])
def test_malformed_taxes_are_named(text):
    with pytest.raises(ValueError, match=text):
        parse_taxes(f"CH=0.081,{text}")


def test_tax_is_charged_on_the_amount_after_credit(caller):
    BillingAccount.objects.create(
        organization_id=caller.organization_id, tax_rate=Decimal("0.19"), legal_name="Acme GmbH"
    )
    use(caller, 20_000)  # 100.00
    give_credit(caller, 60)
    invoice = issue(caller)
    assert (invoice.subtotal, invoice.credit_applied) == (100, 60)
    assert (invoice.tax, invoice.total) == (Decimal("7.60"), Decimal("47.60"))
    assert invoice.customer["name"] == "Acme GmbH"
    assert credit_state(caller.organization_id, at=NOW).remaining == 0
    assert sum(CreditEntry.objects.values_list("amount", flat=True)) == 0


def test_issued_invoice_is_immutable(caller):
    use(caller, 1000)
    invoice = issue(caller)
    for change in (
        lambda: Invoice.objects.update(total=1),
        lambda: Invoice.objects.update(number=7),
        lambda: Invoice.objects.update(status="draft", number=None),
        lambda: invoice.lines.update(amount=1),
        invoice.lines.all()[0].delete,
        lambda: UsageRecord.objects.update(invoice=None),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    again = Invoice.objects.get()
    assert (again.total, again.number) == (Decimal("5.00"), 1)


def test_invoice_is_paid_once_and_not_voided_afterwards(caller):
    use(caller, 1000)
    invoice = issue(caller)
    assert invoice.status == "open"
    assert invoice_pay(invoice_id=invoice.pk, now=NOW).paid_at == NOW
    assert invoice_pay(invoice_id=invoice.pk, now=NOW + timedelta(days=1)).paid_at == NOW
    with pytest.raises(Conflict):
        invoice_void(invoice_id=invoice.pk, now=NOW)


def test_invoice_of_zero_is_paid(caller):
    use(caller, 0)
    assert issue(caller).status == "paid"


def test_credit_notes_correct_up_to_what_is_left(caller):
    BillingAccount.objects.create(organization_id=caller.organization_id, tax_rate=Decimal("0.2"))
    use(caller, 2000)
    invoice = issue(caller)
    note = credit_note_create(
        invoice_id=invoice.pk, amount=Decimal(4), reason="outage on the 3rd", now=NOW
    )
    assert (note.number, note.subtotal, note.tax, note.total) == (
        2,
        -4,
        Decimal("-0.8"),
        Decimal("-4.8"),
    )
    for amount in ("6.01", "0", "-1", "0.001"):
        with pytest.raises(InvalidRequest):
            credit_note_create(invoice_id=invoice.pk, amount=Decimal(amount), reason="x", now=NOW)
    credit_note_create(invoice_id=invoice.pk, amount=Decimal(6), reason="the rest", now=NOW)
    assert invoice_pdf(note).startswith(b"%PDF")


def test_credit_notes_give_back_no_more_tax_than_was_charged(caller):
    BillingAccount.objects.create(organization_id=caller.organization_id, tax_rate=Decimal("0.19"))
    use(caller, 20)  # 0.10
    invoice = issue(caller)
    assert invoice.tax == Decimal("0.02")
    for amount in ("0.03", "0.03", "0.03", "0.01"):
        credit_note_create(invoice_id=invoice.pk, amount=Decimal(amount), reason="part", now=NOW)
    notes = invoice.credit_notes.all()
    assert sum(note.subtotal for note in notes) == -invoice.subtotal
    assert sum(note.tax for note in notes) == -invoice.tax
    assert sum(note.total for note in notes) == -invoice.total


def test_invoice_documents_are_reproducible_and_escape_names(caller):
    Project.objects.filter(pk=caller.project_id).update(name="=HYPERLINK(1) <b>&")
    use(caller, 123_457)
    invoice = issue(caller)
    pdf = invoice_pdf(invoice)
    assert pdf.startswith(b"%PDF")
    assert pdf == invoice_pdf(Invoice.objects.get())
    rows = invoice_csv(invoice).splitlines()
    assert rows[1].split(",")[3] == "'=HYPERLINK(1) <b>&"
    assert rows[1].split(",")[-2] == "617.285"


NAMES = (
    "Łódź Žižkov İşçi",
    "Ελληνικά",
    "Ромашка",
    "株式会社テスト",
    "测试有限公司",
    "주식회사 시험",
)


# As read, and as printed from left to right: letters joined, the number in its own direction.
RIGHT_TO_LEFT = (
    ("חברת בדיקות 24", "24 תוקידב תרבח"),
    ("شركة النور 12", "12 رونلا ةكرش"),
    ("Acme سوق Ltd", "Acme قوس Ltd"),
    ("חברה (תל אביב)", "(ביבא לת) הרבח"),
)


@pytest.mark.parametrize(("name", "printed"), RIGHT_TO_LEFT)
def test_document_prints_right_to_left_names_as_they_are_read(caller, name, printed):
    assert _glyphs(name, width=200) == [printed]

    Project.objects.filter(pk=caller.project_id).update(name=name)
    use(caller, 2000)
    page = PdfReader(io.BytesIO(invoice_pdf(issue(caller)))).pages[0].extract_text()
    # Which way round a reader of PDF gives such words is its own choice: each is there whole.
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", page))
    assert all(word in words or word[::-1] in words for word in re.findall(r"\w+", name))


def test_long_right_to_left_name_begins_in_its_first_line():
    words = ["ראשון", "שני", "שלישי", "רביעי", "חמישי", "שישי", "שביעי"]
    lines = _glyphs(" ".join(words), width=90)
    assert len(lines) > 1
    read = " ".join(line[::-1] for line in lines)
    assert read.split() == words


def _glyphs(text: str, width: float) -> list[str]:
    """The lines of a text as they are set, each from left to right."""
    markup = re.sub(r"</?font[^>]*>", "", printable(text, BODY, width))
    # The glyphs of joined letters are compatibility characters of the letters (NFKC).
    return unicodedata.normalize("NFKC", markup).split("<br/>")


def test_document_prints_names_of_any_writing_and_every_amount_to_the_cent(caller):
    """What is read out of the PDF is what the invoice says."""
    for number, name in enumerate(NAMES):
        BillingAccount.objects.update_or_create(
            organization_id=caller.organization_id,
            defaults={
                "legal_name": f"{name} <&>",
                "address": f"1 {name}\n10115 Berlin",
                "tax_id": "DE 999",
                "tax_rate": Decimal("0.19"),
            },
        )
        Project.objects.filter(pk=caller.project_id).update(name=name)
        use(caller, 123_457, month=number + 1)
        invoice = issue(caller, parse_period(f"2026-{number + 1:02}", now=NOW))
        pdf = invoice_pdf(invoice)
        assert pdf == invoice_pdf(Invoice.objects.get(pk=invoice.pk))
        text = " ".join(
            " ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages).split()
        )
        for printed in (
            f"{name} <&>",
            f"1 {name}",
            "DE 999",
            invoice.reference,
            "617.285",  # the line, exact
            f"{invoice.subtotal:,.2f}",
            f"Tax 19 % {invoice.tax:,.2f}",
            f"Total USD {invoice.total:,.2f}",
        ):
            assert printed in text, (printed, text)
        assert (invoice.subtotal, invoice.tax, invoice.total) == (
            Decimal("617.29"),
            Decimal("117.29"),
            Decimal("734.58"),
        )


@pytest.mark.django_db(transaction=True)
def test_concurrent_closes_give_one_invoice():
    prices_seed(prices=PRICES)
    caller = factories.principal()
    for _ in range(30):
        use(caller, 10)
    results: list[int] = []

    def work() -> None:
        try:
            results.append(issue(caller).pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 1
    assert Invoice.objects.get().number == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_invoices_of_many_customers_leave_no_gap():
    """Every third transaction fails after it took its number."""
    prices_seed(prices=PRICES)
    callers = [factories.principal() for _ in range(12)]
    for caller in callers:
        use(caller, 10)

    def work(number: int) -> None:
        try:
            with suppress(RuntimeError), transaction.atomic():
                issue(callers[number])
                if number % 3 == 0:
                    raise RuntimeError("the number goes back")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(12)))
    issued = Invoice.objects.filter(number__isnull=False).order_by("number")
    assert [invoice.number for invoice in issued] == list(range(1, 9))
