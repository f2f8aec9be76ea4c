"""0001 to 0008 at once, for a database that has none of them."""

import datetime
import uuid

import django.contrib.postgres.indexes
import django.contrib.postgres.operations
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

# An entry of ContentAccess is never changed or deleted, whoever holds the ORM.
CREATE = """
CREATE FUNCTION conversations_contentaccess_append_only() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'conversations_contentaccess is append-only'
        USING ERRCODE = 'restrict_violation';
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER contentaccess_append_only
    BEFORE UPDATE OR DELETE ON conversations_contentaccess
    FOR EACH ROW EXECUTE FUNCTION conversations_contentaccess_append_only();
"""
DROP = """
DROP TRIGGER contentaccess_append_only ON conversations_contentaccess;
DROP FUNCTION conversations_contentaccess_append_only();
"""


class Migration(migrations.Migration):
    replaces = [
        ("conversations", "0001_initial"),
        ("conversations", "0002_content_access_append_only"),
        ("conversations", "0003_share_expiry_and_policy"),
        ("conversations", "0004_conversation_metadata"),
        ("conversations", "0005_project"),
        ("conversations", "0006_instructions"),
        ("conversations", "0007_at_hand"),
        ("conversations", "0008_tags"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0009_request_logs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        django.contrib.postgres.operations.TrigramExtension(),
        migrations.CreateModel(
            name="ContentAccess",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("organization_id", models.UUIDField()),
                ("conversation_id", models.UUIDField(db_index=True)),
                ("reason", models.TextField()),
                ("request_id", models.CharField(blank=True, max_length=100)),
                ("accessed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "actor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="content_accesses",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "content accesses",
                "ordering": ["-accessed_at"],
            },
        ),
        migrations.CreateModel(
            name="Conversation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("title", models.CharField(blank=True, max_length=200)),
                (
                    "title_is_manual",
                    models.BooleanField(
                        default=False,
                        help_text="The user named it; automatic titles leave it alone.",
                    ),
                ),
                (
                    "model",
                    models.CharField(
                        help_text="The model that the next turn asks for.", max_length=100
                    ),
                ),
                (
                    "metadata",
                    models.JSONField(
                        db_default={},
                        default=dict,
                        help_text="What a program has noted: texts by name.",
                    ),
                ),
                (
                    "instructions",
                    models.TextField(
                        blank=True,
                        db_default="",
                        help_text="What the model reads before the messages.",
                    ),
                ),
                (
                    "parameters",
                    models.JSONField(
                        db_default={},
                        default=dict,
                        help_text="Sampling parameters by their upstream names.",
                    ),
                ),
                (
                    "is_temporary",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="In no list, and erased when it ends.",
                    ),
                ),
                (
                    "tags",
                    models.JSONField(
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text="The user's own words for it.",
                    ),
                ),
                (
                    "imported_id",
                    models.CharField(
                        blank=True,
                        db_default="",
                        help_text="Hash of its id where it came from.",
                        max_length=64,
                    ),
                ),
                ("pinned_at", models.DateTimeField(blank=True, null=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="The last turn; renaming or pinning does not count.",
                    ),
                ),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conversations",
                        to="accounts.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        help_text="Whose limits, budget, models and retention hold. Empty: the default one.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="conversations",
                        to="accounts.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conversations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "permissions": [("view_content", "Can read what users and models wrote")],
                "indexes": [
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", True)),
                        fields=["organization", "user", "-updated_at", "-id"],
                        name="conversation_list",
                    ),
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", False)),
                        fields=["deleted_at"],
                        name="conversation_purge",
                    ),
                    models.Index(fields=["project", "updated_at"], name="conversation_by_project"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Upper("title"), name="gin_trgm_ops"
                        ),
                        name="conversation_title_trgm",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("imported_id", ""), _negated=True),
                        fields=("organization", "user", "imported_id"),
                        name="conversation_imported_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(choices=[("image", "Image"), ("text", "Text")], max_length=8),
                ),
                (
                    "filename",
                    models.CharField(
                        help_text="As the user named it; for display.", max_length=255
                    ),
                ),
                ("content_type", models.CharField(max_length=100)),
                ("size", models.PositiveIntegerField(help_text="Bytes as stored.")),
                ("file", models.FileField(max_length=200, upload_to="")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attachments",
                        to="accounts.organization",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attachments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        blank=True,
                        help_text="Set when a message first uses it; empty ones are removed after a day.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attachments",
                        to="conversations.conversation",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("system", "System"),
                            ("user", "User"),
                            ("assistant", "Assistant"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "content",
                    models.JSONField(
                        default=list,
                        help_text='Parts: {"type": "text", "text"} or {"type", "attachment_id"}.',
                    ),
                ),
                ("text", models.TextField(blank=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "being generated"),
                            ("completed", "Completed"),
                            ("cancelled", "Cancelled"),
                            ("blocked", "Blocked"),
                            ("failed", "Failed"),
                        ],
                        default="completed",
                        max_length=16,
                    ),
                ),
                ("model", models.CharField(blank=True, max_length=100)),
                ("generation_id", models.UUIDField(blank=True, null=True)),
                ("finish_reason", models.CharField(blank=True, max_length=32)),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                (
                    "sent",
                    models.JSONField(
                        blank=True,
                        help_text="Of an answer: what makes out the prompt that was sent.",
                        null=True,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="children",
                        to="conversations.message",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["conversation", "parent", "created_at"], name="message_siblings"
                    ),
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["conversation"],
                        name="message_pending",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Upper("text"), name="gin_trgm_ops"
                        ),
                        name="message_text_trgm",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Feedback",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rating", models.SmallIntegerField(choices=[(1, "good"), (-1, "bad")])),
                ("comment", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="feedback",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="feedback",
                        to="conversations.message",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "feedback",
                "constraints": [
                    models.UniqueConstraint(fields=("message", "user"), name="feedback_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("rating__in", [1, -1])),
                        name="feedback_rating_is_a_thumb",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="conversation",
            name="active_message",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="conversations.message",
            ),
        ),
        migrations.CreateModel(
            name="Share",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("token_sha256", models.CharField(max_length=64, unique=True)),
                ("title", models.CharField(max_length=200)),
                ("model", models.CharField(max_length=100)),
                (
                    "snapshot",
                    models.JSONField(
                        help_text="[{role, content, attachments, created_at}] as shared."
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "expires_at",
                    models.DateTimeField(
                        db_default=models.ExpressionWrapper(
                            django.db.models.expressions.CombinedExpression(
                                django.db.models.functions.datetime.Now(),
                                "+",
                                models.Value(datetime.timedelta(days=30)),
                            ),
                            output_field=models.DateTimeField(),
                        )
                    ),
                ),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shares",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shares",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SharingPolicy",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sharing_policy",
                        serialize=False,
                        to="accounts.organization",
                    ),
                ),
                ("is_allowed", models.BooleanField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "changed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "sharing policies",
            },
        ),
        migrations.CreateModel(
            name="ChatDefaults",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "about",
                    models.TextField(blank=True, help_text="What they say about themselves."),
                ),
                ("style", models.TextField(blank=True, help_text="How they want to be answered.")),
                (
                    "parameters",
                    models.JSONField(default=dict, help_text="What a new chat begins with."),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chat_defaults",
                        to="accounts.organization",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chat_defaults",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "chat defaults",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "user"), name="chat_defaults_unique"
                    )
                ],
            },
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
