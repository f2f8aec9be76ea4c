"""Mails about money are in their reader's language: amounts, days and months too."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core import mail
from django.db import transaction

from backend.accounts.mail import mail_text
from backend.accounts.models import Mail, User
from billing.accounts import billing_language
from billing.budgets.alerts import check_budgets
from billing.budgets.services import budget_set
from billing.models import BillingAccount, PaymentReversal
from billing.prices.services import prices_seed
from billing.webhooks.delivery import deliver_due
from billing.webhooks.endpoints import MAX_FAILING, MAX_FAILURES
from tests.billing import factories
from tests.billing.paying import NOW, take
from tests.billing.test_budget_alerts import spend
from tests.billing.test_budgets_inline import PRICES
from tests.billing.test_dunning import owing, run_daily
from tests.billing.test_refunds import bought, dispute, one_refund
from tests.billing.test_webhook_endpoints import had_failed
from tests.billing.test_webhooks import queue
from tests.support.languages import in_languages
from tests.support.stripe_server import StripeServer
from tests.support.written import is_written_in

pytestmark = pytest.mark.django_db(transaction=True)


def assert_written_in(tag: str, texts: list[tuple[str, str]]) -> None:
    for subject, text in texts:
        assert is_written_in(f"{subject}\n{text}", tag), text
        assert "%(" not in subject + text


def queued(kind: str) -> list[tuple[str, str]]:
    return [(one.subject, mail_text(one)) for one in Mail.objects.filter(kind=kind).order_by("pk")]


@in_languages("tests/billing/test_mail_languages.py::test_mails_about_an_invoice")
def test_mails_about_an_invoice(tag: str, stripe: StripeServer) -> None:
    stripe.decline = True
    invoice = owing(card=True)
    BillingAccount.objects.update(language=tag)
    User.objects.filter(memberships__organization=invoice.organization_id).update(language=tag)
    for day in (0, 3, 14, 21, 22, 28, 29, 33, 35, 40):
        run_daily(1, start=NOW + timedelta(days=day))
    steps = list(invoice.dunning.values_list("step", flat=True))
    assert set(steps) == {"issued", "due", "warning", "last_warning", "suspended"}
    mails = queued("invoice")
    assert len(mails) == 4 + len(invoice.collections.all())
    assert_written_in(tag, mails)
    [suspended] = queued("suspension")
    assert_written_in(tag, [suspended])
    assert tag == "en" or "is not paid" not in suspended[1]  # the reason too
    assert {"en": "30.00 USD", "de": "30,00 USD", "ja": "30.00 USD"}.get(tag, "USD") in mails[0][1]
    assert {
        "en": "November 2026",
        "es": "noviembre de 2026",
        "ja": "2026年11月",
        "ar": "نوفمبر",
    }.get(tag, "2026") in mails[0][1]


@in_languages(
    "tests/billing/test_mail_languages.py::test_mails_about_a_payment_that_is_taken_back_and_restored"
)
def test_mails_about_a_payment_that_is_taken_back_and_restored(
    tag: str, stripe: StripeServer
) -> None:
    top_up = bought(stripe)
    User.objects.filter(memberships__organization=top_up.organization_id).update(language=tag)
    take(one_refund(top_up.payment_id, 1, 1000, "succeeded"))
    take(one_refund(top_up.payment_id, 1, 1000, "failed"))
    take(dispute(top_up.payment_id, 2500))
    take(dispute(top_up.payment_id, 2500, "won"))
    invoice = owing(card=True)
    BillingAccount.objects.update(language=tag)
    run_daily(1)
    payment = invoice.collections.get().payment_id
    take(one_refund(payment, 2, 1000, "succeeded", charge="ch_2"))
    take(one_refund(payment, 2, 1000, "failed", charge="ch_2"))
    take(dispute(payment, 1000, id="dp_2"))
    take(dispute(payment, 1000, "won", id="dp_2"))
    assert PaymentReversal.objects.count() == 4
    mails = queued("payment")
    assert len(mails) == 8
    assert_written_in(tag, mails)


@in_languages("tests/billing/test_mail_languages.py::test_mails_about_a_budget")
def test_mails_about_a_budget(tag: str) -> None:
    prices_seed(prices=PRICES)
    caller = factories.principal()
    User.objects.filter(pk=caller.user_id).update(language=tag)
    budget_set(principal=caller, amount=Decimal(2000), is_hard=True)
    for _ in range(2):
        with transaction.atomic():
            spend(caller, 1234)
        check_budgets()
    assert len(mail.outbox) == 2
    assert_written_in(tag, [(str(each.subject), str(each.body)) for each in mail.outbox])
    amount = {"de": "2.000,00", "pt": "2.000,00", "es": "2.000,00", "fr": "2\u00a0000,00"}
    assert amount.get(tag, "2,000.00") in mail.outbox[0].body


@in_languages("tests/billing/test_mail_languages.py::test_mails_about_a_webhook_that_fails")
def test_mails_about_a_webhook_that_fails(tag: str, receiver: Any) -> None:
    receiver.status = 500
    caller = factories.principal()
    User.objects.filter(pk=caller.user_id).update(language=tag)
    endpoint = queue(receiver.url, caller=caller)
    other = factories.principal(organization=endpoint.organization)
    User.objects.filter(pk=other.user_id).update(language="fr")
    had_failed(endpoint, failures=MAX_FAILURES - 1, lasting=MAX_FAILING)
    deliver_due()
    to = {message.to[0]: (str(message.subject), str(message.body)) for message in mail.outbox}
    assert_written_in(tag, [to[factories.email_of(caller)]])
    assert_written_in("fr", [to[factories.email_of(other)]])
    assert receiver.url in to[factories.email_of(caller)][1]


def test_billing_is_in_the_language_that_is_said_or_the_first_owners() -> None:
    caller = factories.principal()
    organization_id = caller.organization_id
    assert billing_language(organization_id) == ""
    User.objects.filter(pk=caller.user_id).update(language="ja")
    assert billing_language(organization_id) == "ja"
    BillingAccount.objects.create(organization_id=organization_id, language="fr")
    assert billing_language(organization_id) == "fr"
