"""Ledger and event store keep no hash of an address; an erasure may empty what is there."""

from django.db import migrations, models

_HELP = "Of earlier releases: a keyed hash of the client's address, gone by an erasure."
_FUNCTION = """
CREATE OR REPLACE FUNCTION billing_invoice_once() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE expected billing_usagerecord%ROWTYPE;
BEGIN
    expected := OLD;
    expected.invoice_id := NEW.invoice_id;
    IF NEW.client_hash = '' THEN
        expected.client_hash := '';
    END IF;
    IF NEW IS DISTINCT FROM expected THEN
        RAISE EXCEPTION 'billing_usagerecord is append-only: UPDATE refused'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.invoice_id IS NOT NULL AND OLD.invoice_id IS DISTINCT FROM NEW.invoice_id
        AND (NEW.invoice_id IS NOT NULL OR NOT EXISTS (
            SELECT 1 FROM billing_invoice WHERE id = OLD.invoice_id AND status = 'void'
        ))
    THEN
        RAISE EXCEPTION 'billing_usagerecord: a record leaves an invoice only when that is void'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0037_invoice_closes_in_batches"),
    ]

    operations = [
        migrations.AlterField(
            model_name="usageevent",
            name="client_hash",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text=_HELP,
                max_length=64,
            ),
        ),
        migrations.AlterField(
            model_name="usagerecord",
            name="client_hash",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text=_HELP,
                max_length=64,
            ),
        ),
        migrations.RunSQL([(_FUNCTION, None)], migrations.RunSQL.noop),
    ]
