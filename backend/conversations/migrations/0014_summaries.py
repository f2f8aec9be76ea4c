import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0013_shared_files"),
    ]

    operations = [
        migrations.AddField(
            model_name="chatdefaults",
            name="summarises",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The beginning of long chats is summarised.",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="summarises",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="Its beginning is summarised when it does not fit any more.",
            ),
        ),
        migrations.CreateModel(
            name="ConversationSummary",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("text", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="summaries",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "through",
                    models.OneToOneField(
                        help_text="The last one it covers.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="conversations.message",
                    ),
                ),
            ],
            options={"verbose_name_plural": "conversation summaries"},
        ),
    ]
