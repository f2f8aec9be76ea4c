"""An endpoint that fails for too long is called no more, and its owners learn of it."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from backend.accounts.suspension import reinstate_organization, suspend_organization
from backend.platform.errors import NotFound, PermissionDenied
from billing.models import WebhookEndpoint
from billing.webhooks.delivery import deliver_due
from billing.webhooks.endpoints import MAX_FAILING, MAX_FAILURES, MAX_FAILURES_AT_ALL
from billing.webhooks.services import webhook_enable
from tests.billing import factories
from tests.billing.test_webhooks import queue

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller():
    return factories.principal()


def had_failed(endpoint: WebhookEndpoint, *, failures: int, lasting: timedelta) -> None:
    """Before this test's deliveries."""
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        failures=failures, failing_since=timezone.now() - lasting
    )


def test_endpoint_is_disabled_after_repeated_failure_and_owners_are_mailed(caller, receiver):
    receiver.status = 500
    endpoint = queue(receiver.url, count=3, caller=caller)
    finance = factories.principal(role="finance", organization=endpoint.organization)
    had_failed(endpoint, failures=MAX_FAILURES - 1, lasting=MAX_FAILING)
    deliver_due()
    endpoint.refresh_from_db()
    assert not endpoint.enabled
    assert endpoint.disabled_at is not None
    [message] = mail.outbox
    assert message.to == [factories.email_of(caller)]
    assert factories.email_of(finance) not in message.to
    assert receiver.url in message.body
    assert "answered 500" in message.body

    sent = len(receiver.requests)
    endpoint.deliveries.update(next_attempt_at=timezone.now())
    assert deliver_due() == 0
    assert len(receiver.requests) == sent


def test_endpoint_that_fails_often_within_a_day_stays_enabled(caller, receiver):
    receiver.status = 500
    endpoint = queue(receiver.url, caller=caller)
    had_failed(endpoint, failures=MAX_FAILURES, lasting=timedelta(hours=1))
    deliver_due()
    assert WebhookEndpoint.objects.get().enabled
    assert mail.outbox == []


def test_endpoint_that_fails_very_often_is_disabled_at_once(caller, receiver):
    receiver.status = 500
    endpoint = queue(receiver.url, caller=caller)
    had_failed(endpoint, failures=MAX_FAILURES_AT_ALL - 1, lasting=timedelta(minutes=1))
    deliver_due()
    assert not WebhookEndpoint.objects.get().enabled


def test_delivered_event_resets_the_failure_count(caller, receiver):
    endpoint = queue(receiver.url, caller=caller)
    had_failed(endpoint, failures=MAX_FAILURES_AT_ALL - 1, lasting=MAX_FAILING)
    assert deliver_due() == 1
    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.failing_since, endpoint.enabled) == (0, None, True)


def test_enabled_endpoint_is_sent_waiting_deliveries(caller, receiver):
    receiver.status = 500
    endpoint = queue(receiver.url, caller=caller)
    had_failed(endpoint, failures=MAX_FAILURES_AT_ALL - 1, lasting=timedelta(minutes=1))
    deliver_due()
    endpoint.deliveries.update(next_attempt_at=timezone.now())
    receiver.status = 200
    assert deliver_due() == 0
    webhook_enable(principal=caller, endpoint_id=endpoint.pk)
    assert deliver_due() == 1


def test_deliveries_of_a_suspended_organization_wait_until_it_is_reinstated(caller, receiver):
    queue(receiver.url, count=2, caller=caller)
    suspend_organization(organization_id=caller.organization_id, reason="Unpaid", cause="unpaid")
    assert deliver_due() == 0
    assert receiver.requests == []
    reinstate_organization(organization_id=caller.organization_id, cause="unpaid")
    assert deliver_due() == 2


def test_endpoint_is_enabled_by_its_organizations_managers_only(caller):
    endpoint = queue("https://example.com/", caller=caller)
    with pytest.raises(NotFound):
        webhook_enable(principal=factories.principal(), endpoint_id=endpoint.pk)
    member = factories.principal(role="member", organization=endpoint.organization)
    with pytest.raises(PermissionDenied):
        webhook_enable(principal=member, endpoint_id=endpoint.pk)
