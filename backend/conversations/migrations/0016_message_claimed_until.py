from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("conversations", "0015_comparison")]

    operations = [
        migrations.AddField(
            model_name="message",
            name="claimed_until",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text=(
                    "Of a pending answer: until when the process lives that is to begin it."
                ),
                null=True,
            ),
        ),
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                condition=models.Q(("generation_id", None), ("status", "pending")),
                fields=["claimed_until"],
                name="message_unbegun",
            ),
        ),
    ]
