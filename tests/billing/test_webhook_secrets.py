"""Signing secrets are encrypted at rest, those from before too."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from billing.models import WebhookEndpoint
from billing.webhooks.secrets import SecretUnreadable, secret_decrypt, secret_encrypt
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


def test_secret_of_the_release_before_is_read_as_it_is():
    assert secret_decrypt("whsec_old") == "whsec_old"


def test_secret_survives_a_new_secret_key_while_the_old_one_is_a_fallback(settings):
    stored = secret_encrypt("whsec_x")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"
    assert secret_decrypt(stored) == "whsec_x"
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(SecretUnreadable, match="add it again"):
        secret_decrypt(stored)
