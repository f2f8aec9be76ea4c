"""The list of ledger records whose event may be missing; a trigger enters each new record.

Processes of the version before never take a record off it; the sweep does (reconciliation).
"""

from django.db import migrations, models

CREATE = """
CREATE FUNCTION billing_list_unaggregated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO billing_unaggregatedusage (generation_id, organization_id)
    SELECT generation_id, organization_id FROM recorded;
    RETURN NULL;
END $$;
CREATE TRIGGER list_unaggregated AFTER INSERT ON billing_usagerecord
    REFERENCING NEW TABLE AS recorded
    FOR EACH STATEMENT EXECUTE FUNCTION billing_list_unaggregated();
"""
DROP = """
DROP TRIGGER list_unaggregated ON billing_usagerecord;
DROP FUNCTION billing_list_unaggregated();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0013_outbox_partition")]
    operations = [
        migrations.CreateModel(
            name="UnaggregatedUsage",
            fields=[
                ("generation_id", models.UUIDField(primary_key=True, serialize=False)),
                ("organization_id", models.UUIDField()),
            ],
            options={
                "indexes": [models.Index(fields=["organization_id"], name="unaggregated_org")],
            },
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
