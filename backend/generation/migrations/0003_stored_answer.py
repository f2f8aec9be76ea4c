"""A new table; the release before does not know it, and ends generations without it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("generation", "0002_table_name")]

    operations = [
        migrations.CreateModel(
            name="StoredAnswer",
            fields=[
                (
                    "generation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="stored_answer",
                        serialize=False,
                        to="generation.generation",
                    ),
                ),
                (
                    "text",
                    models.TextField(
                        blank=True,
                        help_text=("With calls as part of it, see backend/generation/tools.py."),
                    ),
                ),
            ],
        ),
    ]
