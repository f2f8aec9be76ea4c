"""Signing secrets are encrypted at rest, those from before too."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from billing.models import WebhookEndpoint
from billing.webhooks.services import webhook_create
from tests.billing import factories


def stored_secret() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM billing_webhookendpoint")
        [(secret,)] = cursor.fetchall()
    return secret


@pytest.mark.django_db
def test_database_does_not_hold_a_new_secret():
    endpoint = webhook_create(
        principal=factories.principal(), url="https://example.com/", types=["invoice.issued"]
    )
    assert endpoint.secret.startswith("whsec_")
    assert endpoint.secret not in stored_secret()
    assert WebhookEndpoint.objects.get().secret == endpoint.secret


@pytest.mark.django_db
def test_migration_encrypts_secrets_and_takes_it_back():
    migration = import_module("billing.migrations.0012_webhooks_claimed_disabled_encrypted")
    webhook_create(
        principal=factories.principal(), url="https://example.com/", types=["invoice.issued"]
    )
    WebhookEndpoint.objects.update(encrypted_secret="whsec_old")
    migration.encrypt(apps, None)
    assert "whsec_old" not in stored_secret()
    assert WebhookEndpoint.objects.get().secret == "whsec_old"
    migration.decrypt(apps, None)
    assert stored_secret() == "whsec_old"


@pytest.mark.django_db
def test_secret_of_a_release_without_encryption_is_read_as_it_is():
    assert WebhookEndpoint(encrypted_secret="whsec_old").secret == "whsec_old"
