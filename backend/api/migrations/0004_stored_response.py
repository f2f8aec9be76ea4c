"""A new table; the release before does not know it."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_plans"),
        ("api", "0003_idempotency_user"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="StoredResponse",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                (
                    "previous",
                    models.UUIDField(help_text="The response that it follows.", null=True),
                ),
                ("items", models.TextField(help_text="Its input items, as JSON.")),
                (
                    "asked",
                    models.TextField(
                        help_text="Its parameters, as its object shows them, as JSON."
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_index=True, default=django.utils.timezone.now),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
