import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    # The app was called `gateway`: where these have run, this one counts as run, too.
    replaces = [("gateway", "0001_initial"), ("gateway", "0002_client_hash")]

    dependencies = [
        ("accounts", "0002_plans"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Generation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("conversation_id", models.UUIDField(blank=True, null=True)),
                ("message_id", models.UUIDField(blank=True, null=True)),
                ("request_id", models.CharField(max_length=128)),
                (
                    "client_hash",
                    models.CharField(
                        blank=True, help_text="Keyed hash of the client's address.", max_length=64
                    ),
                ),
                ("endpoint", models.CharField(max_length=16)),
                ("model", models.CharField(max_length=100)),
                (
                    "pool",
                    models.CharField(
                        blank=True, help_text="Empty when no engine saw the prompt.", max_length=100
                    ),
                ),
                (
                    "replica",
                    models.CharField(
                        blank=True, help_text="The last one that served it.", max_length=100
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("completed", "Completed"),
                            ("cancelled", "Cancelled"),
                            ("blocked", "Blocked"),
                            ("failed", "Failed"),
                        ],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("finish_reason", models.CharField(blank=True, max_length=32)),
                ("error_code", models.CharField(blank=True, max_length=64)),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("cached_input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("ttft_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("duration_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("epoch", models.PositiveIntegerField(default=1)),
                (
                    "deadline_at",
                    models.DateTimeField(help_text="It has ended by then, or it is reaped."),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "api_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="generations",
                        to="accounts.apikey",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="generations",
                        to="accounts.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="generations",
                        to="accounts.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="generations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "gateway_generation",
                "indexes": [
                    models.Index(
                        fields=["organization", "-created_at"], name="generation_organization"
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=["deadline_at"],
                        name="generation_open",
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=["conversation_id"],
                        name="generation_open_conversation",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "running"]),
                            ("finished_at__isnull", False),
                            _connector="OR",
                        ),
                        name="generation_terminal_is_finished",
                    )
                ],
            },
        ),
    ]
