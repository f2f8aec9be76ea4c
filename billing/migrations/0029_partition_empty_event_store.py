"""The event store of a new installation is partitioned; one with rows stays as it is until its
operator runs `manage.py partition_usage_events`, which takes as long as an index is built."""

from datetime import UTC, datetime
from typing import Any

from django.db import migrations

from backend.platform.partitions import convert
from billing.partitions import EVENTS


def partition_empty(apps: Any, schema_editor: Any) -> None:
    if not apps.get_model("billing", "UsageEvent").objects.exists():
        convert(EVENTS, now=datetime.now(UTC))


class Migration(migrations.Migration):
    atomic = False  # an index is built concurrently
    dependencies = [("billing", "0028_engine_hours")]
    operations = [migrations.RunPython(partition_empty, migrations.RunPython.noop)]
