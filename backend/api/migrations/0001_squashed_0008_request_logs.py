"""0001 to 0008 at once, for a database that has none of them."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("api", "0001_idempotency"),
        ("api", "0002_idempotency_holder"),
        ("api", "0003_idempotency_user"),
        ("api", "0004_stored_response"),
        ("api", "0005_batches"),
        ("api", "0006_stored_chat"),
        ("api", "0007_projects_of_files"),
        ("api", "0008_request_logs"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0009_request_logs"),
        ("generation", "0002_table_name"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("endpoint", models.CharField(max_length=40)),
                (
                    "model",
                    models.CharField(
                        blank=True, help_text="Known once it is validated.", max_length=100
                    ),
                ),
                ("input_file_id", models.UUIDField()),
                ("output_file_id", models.UUIDField(null=True)),
                ("error_file_id", models.UUIDField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("validating", "Validating"),
                            ("in_progress", "In Progress"),
                            ("finalizing", "Finalizing"),
                            ("cancelling", "Cancelling"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                            ("expired", "Expired"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="validating",
                        max_length=16,
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("validating", "Validating"),
                            ("in_progress", "In Progress"),
                            ("finalizing", "Finalizing"),
                            ("cancelling", "Cancelling"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                            ("expired", "Expired"),
                            ("cancelled", "Cancelled"),
                        ],
                        help_text="The state that it will end in, once nothing more of it is begun.",
                        max_length=16,
                    ),
                ),
                ("metadata", models.JSONField(default=dict)),
                (
                    "problems",
                    models.JSONField(
                        default=list, help_text="Why it failed, as OpenAI lists them."
                    ),
                ),
                (
                    "output_expires_after",
                    models.PositiveIntegerField(help_text="Seconds.", null=True),
                ),
                ("total", models.PositiveIntegerField(default=0)),
                ("completed", models.PositiveIntegerField(default=0, help_text="Set at its end.")),
                ("failed", models.PositiveIntegerField(default=0, help_text="Set at its end.")),
                (
                    "claimed_until",
                    models.DateTimeField(
                        help_text="While a process validates it, or writes its files.", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("in_progress_at", models.DateTimeField(null=True)),
                ("finalizing_at", models.DateTimeField(null=True)),
                ("cancelling_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "api_key",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.apikey",
                    ),
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
                    "project",
                    models.ForeignKey(
                        help_text="Its retention.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.project",
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
            options={
                "verbose_name_plural": "batches",
                "indexes": [
                    models.Index(fields=["organization", "user", "-created_at"], name="batch_list"),
                    models.Index(
                        condition=models.Q(
                            ("state__in", ["validating", "in_progress", "finalizing", "cancelling"])
                        ),
                        fields=["created_at"],
                        name="batch_open",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BatchLine",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("number", models.PositiveIntegerField()),
                ("custom_id", models.CharField(max_length=512)),
                ("body", models.TextField(help_text="Its request, as JSON.")),
                (
                    "attempt",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Grows where a generation ended without an answer."
                    ),
                ),
                (
                    "claimed_until",
                    models.DateTimeField(
                        help_text="While a process answers it; or not to be begun before.",
                        null=True,
                    ),
                ),
                (
                    "answer",
                    models.TextField(blank=True, help_text="What a file will say of it, as JSON."),
                ),
                ("is_error", models.BooleanField(default=False)),
                ("is_done", models.BooleanField(default=False)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="lines",
                        to="api.batch",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("is_done", False)),
                        fields=["batch", "number"],
                        name="batch_line_undone",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("batch", "number"), name="batch_line_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=255)),
                (
                    "fingerprint",
                    models.CharField(help_text="SHA-256 of method, path and body.", max_length=64),
                ),
                ("generation_id", models.UUIDField(default=uuid.uuid4, unique=True)),
                (
                    "holder",
                    models.CharField(
                        db_default="",
                        help_text="Token of the lock that claimed it last; nobody else may delete it.",
                        max_length=32,
                    ),
                ),
                ("content_type", models.CharField(blank=True, max_length=100)),
                (
                    "body",
                    models.BinaryField(help_text="The whole answer, zlib-compressed.", null=True),
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
                        help_text="Conversations are private from colleagues, and so are answers.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "user", "key"), name="idempotency_user_key_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RequestCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("hour", models.DateTimeField(db_index=True)),
                ("path", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField()),
                ("code", models.CharField(blank=True, max_length=64)),
                ("requests", models.PositiveIntegerField(default=0)),
                (
                    "api_key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.apikey",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("api_key", "hour", "path", "status", "code"),
                        name="request_count_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RequestLog",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "generation_id",
                    models.UUIDField(help_text="Empty where it was refused.", null=True),
                ),
                ("path", models.CharField(max_length=64)),
                (
                    "model",
                    models.CharField(blank=True, help_text="As it was asked for.", max_length=100),
                ),
                ("status", models.PositiveSmallIntegerField(help_text="Of the HTTP answer.")),
                ("code", models.CharField(blank=True, help_text="Of its error.", max_length=64)),
                ("duration_ms", models.PositiveIntegerField()),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("request_id", models.CharField(max_length=128)),
                (
                    "ciphertext",
                    models.TextField(blank=True, help_text="Request and answer; empty: not kept."),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "api_key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.apikey",
                    ),
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
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
            options={
                "indexes": [
                    models.Index(fields=["organization", "-created_at"], name="request_log_list"),
                    models.Index(fields=["api_key", "-created_at"], name="request_log_of_key"),
                ],
            },
        ),
        migrations.CreateModel(
            name="StoredChat",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("model", models.CharField(max_length=100)),
                ("messages", models.TextField(help_text="As they came, as JSON.")),
                (
                    "asked",
                    models.TextField(
                        help_text="Its parameters, as its object shows them, as JSON."
                    ),
                ),
                ("metadata", models.JSONField(default=dict)),
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
            options={
                "indexes": [
                    models.Index(
                        fields=["organization", "user", "created_at"], name="stored_chat_list"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="StoredFile",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[("batch", "Batch"), ("batch_output", "Batch Output")],
                        max_length=16,
                    ),
                ),
                ("filename", models.CharField(max_length=255)),
                ("size", models.BigIntegerField(help_text="Bytes.")),
                ("file", models.CharField(help_text="Its name in the storage.", max_length=100)),
                (
                    "is_ready",
                    models.BooleanField(default=False, help_text="Its bytes are all there."),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(db_index=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        help_text="Its retention.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.project",
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
            options={
                "indexes": [
                    models.Index(fields=["organization", "user", "-created_at"], name="file_list"),
                    models.Index(
                        condition=models.Q(("is_ready", False)),
                        fields=["created_at"],
                        name="file_unready",
                    ),
                ],
            },
        ),
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
        migrations.CreateModel(
            name="Upload",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[("batch", "Batch"), ("batch_output", "Batch Output")],
                        max_length=16,
                    ),
                ),
                ("filename", models.CharField(max_length=255)),
                ("size", models.BigIntegerField(help_text="Bytes, as announced.")),
                ("content_type", models.CharField(max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("completed", "Completed"),
                            ("cancelled", "Cancelled"),
                            ("expired", "Expired"),
                        ],
                        default="pending",
                        max_length=16,
                    ),
                ),
                (
                    "file_expires_after",
                    models.PositiveIntegerField(help_text="Seconds.", null=True),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "file",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="api.storedfile",
                    ),
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
                    "project",
                    models.ForeignKey(
                        help_text="Its retention.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.project",
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
        migrations.CreateModel(
            name="UploadPart",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("size", models.BigIntegerField(help_text="Bytes.")),
                ("file", models.CharField(help_text="Its name in the storage.", max_length=100)),
                ("is_ready", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="api.upload",
                    ),
                ),
            ],
        ),
    ]
