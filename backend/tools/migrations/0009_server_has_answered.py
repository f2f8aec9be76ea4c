from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0008_count_runs_by_processes")]

    operations = [
        # Servers that are there already stay as they are.
        migrations.AddField(
            "toolserver",
            "has_answered",
            models.BooleanField(db_default=True, default=True),
        ),
        migrations.AlterField(
            "toolserver",
            "has_answered",
            models.BooleanField(
                db_default=False,
                default=False,
                help_text="At its URL: the first answer switches it on.",
            ),
        ),
    ]
