"""The ledger of a new installation is partitioned; one with records stays as it is until its
operator runs `manage.py partition_ledger`. Both steps before that let others write, and can be
done again after one that was killed."""

from datetime import UTC, datetime
from typing import Any

from django.db import migrations, models

from backend.platform.partitions import convert
from billing.partitions import LEDGER


def partition_empty(apps: Any, schema_editor: Any) -> None:
    if not apps.get_model("billing", "UsageRecord").objects.exists():
        convert(LEDGER, now=datetime.now(UTC))


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("billing", "0032_ledger_months")]
    operations = [
        migrations.RunSQL(
            "ALTER TABLE billing_usagerecord VALIDATE CONSTRAINT usage_month_of_id",
            migrations.RunSQL.noop,
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                # A try that was killed leaves an index that is not valid.
                migrations.RunSQL(
                    "DROP INDEX CONCURRENTLY IF EXISTS usage_number", migrations.RunSQL.noop
                ),
                migrations.RunSQL(
                    "CREATE INDEX CONCURRENTLY usage_number ON billing_usagerecord (id)",
                    "DROP INDEX CONCURRENTLY IF EXISTS usage_number",
                ),
            ],
            state_operations=[
                migrations.AddIndex(
                    model_name="usagerecord",
                    index=models.Index(fields=["id"], name="usage_number"),
                )
            ],
        ),
        migrations.RunPython(partition_empty, migrations.RunPython.noop),
    ]
