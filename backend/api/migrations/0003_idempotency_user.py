"""A stored answer belongs to the user who asked. Compatible with the release before, which makes
rows without a user; its replays are found by nobody after this."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FILL = """
UPDATE api_idempotencyrecord AS record SET user_id = generation.user_id
FROM generation_generation AS generation WHERE generation.id = record.generation_id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("api", "0002_idempotency_holder"),
        ("generation", "0002_table_name"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="idempotencyrecord",
            name="user",
            field=models.ForeignKey(
                null=True,
                help_text="Conversations are private from colleagues, and so are answers.",
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RemoveConstraint("idempotencyrecord", "idempotency_key_unique"),
        migrations.AddConstraint(
            "idempotencyrecord",
            models.UniqueConstraint(
                fields=["organization", "user", "key"], name="idempotency_user_key_unique"
            ),
        ),
    ]
