import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0012_language"),
        ("conversations", "0012_web_search"),
    ]

    operations = [
        migrations.AddField(
            model_name="attachment",
            name="project",
            field=models.ForeignKey(
                blank=True,
                help_text="All of whose chats read it.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="files",
                to="accounts.project",
            ),
        ),
        migrations.AddField(
            model_name="attachment",
            name="assistant",
            field=models.ForeignKey(
                blank=True,
                help_text="All of whose chats read it.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="files",
                to="conversations.assistant",
            ),
        ),
        migrations.AddConstraint(
            model_name="attachment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("conversation", None), ("project", None)),
                    models.Q(("assistant", None), ("conversation", None)),
                    models.Q(("assistant", None), ("project", None)),
                    _connector="OR",
                ),
                name="attachment_of_one_place",
            ),
        ),
    ]
