"""Each ledger record says the month of its generation's id, by which the ledger can be partitioned
(billing/partitions.py). Nothing is written: ids of before say no time, which is the default."""

from datetime import UTC, datetime

from django.db import migrations, models
from django.db.models import Value

# As `billing.partitions.month_of_id`, of UUIDs of version 7 (RFC 9562).
_CREATE = """
CREATE FUNCTION billing_month_of_id(id uuid) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN
    CASE WHEN substr(id::text, 15, 1) = '7' THEN
        date_trunc('month', timezone('UTC', to_timestamp(
            ('x0000' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(64)::bigint
            / 1000.0::double precision
        ))) AT TIME ZONE 'UTC'
    ELSE timestamptz '1970-01-01 00:00:00+00' END;
ALTER TABLE billing_usagerecord ADD CONSTRAINT usage_month_of_id
    CHECK (id_month = billing_month_of_id(generation_id)) NOT VALID;
-- A process of the release before ends generations of this one, and does not know the column.
CREATE FUNCTION billing_fill_month() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.id_month := billing_month_of_id(NEW.generation_id);
    RETURN NEW;
END $$;
CREATE TRIGGER fill_month BEFORE INSERT ON billing_usagerecord FOR EACH ROW
    WHEN (NEW.id_month = timestamptz '1970-01-01 00:00:00+00')
    EXECUTE FUNCTION billing_fill_month();
"""
_DROP = """
DROP TRIGGER fill_month ON billing_usagerecord;
DROP FUNCTION billing_fill_month;
ALTER TABLE billing_usagerecord DROP CONSTRAINT usage_month_of_id;
DROP FUNCTION billing_month_of_id;
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0031_cached_output")]
    operations = [
        migrations.AddField(
            model_name="usagerecord",
            name="id_month",
            field=models.DateTimeField(
                db_default=Value(datetime(1970, 1, 1, tzinfo=UTC)),
                editable=False,
                help_text="The month in which the generation's id was made: decides the partition.",
            ),
        ),
        migrations.RunSQL(_CREATE, _DROP),
    ]
