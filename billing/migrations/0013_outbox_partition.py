"""The outbox's `lane` is called `partition`. The column keeps its name: processes of the release
before write it while this one is rolled out."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0012_webhooks_claimed_disabled_encrypted")]

    operations = [
        migrations.AlterField(
            model_name="outboxevent",
            name="lane",
            field=models.SmallIntegerField(db_column="lane"),
        ),
        migrations.RenameField(model_name="outboxevent", old_name="lane", new_name="partition"),
        # The index is on the same column as before.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveIndex(model_name="outboxevent", name="outbox_waiting"),
                migrations.AddIndex(
                    model_name="outboxevent",
                    index=models.Index(
                        condition=models.Q(("published_at", None)),
                        fields=["partition", "id"],
                        name="outbox_waiting",
                    ),
                ),
            ]
        ),
    ]
