"""Webhooks: deliveries that are being sent, endpoints that failed too often, secrets encrypted."""

from collections.abc import Callable
from typing import Any

from django.db import migrations, models

from billing.webhook_secrets import secret_decrypt, secret_encrypt


def encrypt(apps: Any, editor: Any) -> None:
    _rewrite(apps, lambda stored, **at: secret_encrypt(secret_decrypt(stored, **at), **at))


def decrypt(apps: Any, editor: Any) -> None:
    _rewrite(apps, secret_decrypt)


def _rewrite(apps: Any, change: Callable[..., str]) -> None:
    endpoints = apps.get_model("billing", "WebhookEndpoint").objects
    for endpoint in endpoints.all().iterator():
        endpoint.encrypted_secret = change(
            endpoint.encrypted_secret,
            organization_id=endpoint.organization_id,
            endpoint_id=endpoint.pk,
        )
        endpoint.save(update_fields=["encrypted_secret"])


class Migration(migrations.Migration):
    dependencies = [("billing", "0011_token_kinds")]

    operations = [
        migrations.AddField(
            model_name="webhookendpoint",
            name="failures",
            field=models.PositiveIntegerField(db_default=0, default=0, help_text="In a row."),
        ),
        migrations.AddField(
            model_name="webhookendpoint",
            name="failing_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="webhookendpoint",
            name="disabled_at",
            field=models.DateTimeField(
                blank=True, help_text="After repeated failure; no longer called.", null=True
            ),
        ),
        migrations.AddField(
            model_name="webhookdelivery",
            name="claimed_until",
            field=models.DateTimeField(blank=True, help_text="While it is being sent.", null=True),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("claimed_until__isnull", False)),
                fields=["claimed_until"],
                name="webhook_claimed",
            ),
        ),
        # The column keeps its name and grows: processes of the release before still read and
        # write it while this one is rolled out.
        migrations.AlterField(
            model_name="webhookendpoint",
            name="secret",
            field=models.CharField(
                db_column="secret",
                editable=False,
                max_length=300,
            ),
        ),
        migrations.RenameField(
            model_name="webhookendpoint", old_name="secret", new_name="encrypted_secret"
        ),
        migrations.RunPython(encrypt, decrypt),
    ]
