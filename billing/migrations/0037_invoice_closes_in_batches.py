"""An invoice is `closing` while its usage is marked in batches; then alone it may change freely."""

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models
from django.db.models import Q

_NUMBER_WHEN_ISSUED = "invoice_number_when_issued"
_MAY_CHANGE_WHILE_CLOSING = """
CREATE OR REPLACE FUNCTION billing_issued_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE expected billing_invoice%ROWTYPE;
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'an invoice is never deleted: void it'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.status = 'closing' THEN
        RETURN NEW;
    END IF;
    expected := OLD;
    expected.status := NEW.status;
    IF OLD.status = 'draft' THEN
        expected.series := NEW.series;
        expected.number := NEW.number;
        expected.issued_at := NEW.issued_at;
        expected.due_at := NEW.due_at;
    ELSE
        expected.paid_at := NEW.paid_at;
        expected.voided_at := NEW.voided_at;
    END IF;
    IF NEW IS DISTINCT FROM expected
        OR (OLD.status <> 'draft' AND NEW.status = 'draft') OR NEW.status = 'closing'
    THEN
        RAISE EXCEPTION 'an invoice is immutable: correct it by a credit note'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    # Each step in a transaction of its own: rows are checked without a lock on the table.
    atomic = False

    dependencies = [
        ("accounts", "0015_plan_quotas"),
        ("billing", "0036_charges_store_what_they_charge"),
    ]

    operations = [
        migrations.AlterField(
            model_name="invoice",
            name="status",
            field=models.CharField(
                choices=[
                    ("closing", "Closing"),
                    ("draft", "Draft"),
                    ("open", "Open"),
                    ("paid", "Paid"),
                    ("void", "Void"),
                ],
                default="draft",
                max_length=8,
            ),
        ),
        migrations.RemoveConstraint(model_name="invoice", name=_NUMBER_WHEN_ISSUED),
        AddConstraintNotValid(
            model_name="invoice",
            constraint=models.CheckConstraint(
                condition=Q(status__in=["closing", "draft"], number=None)
                | (~Q(status__in=["closing", "draft"]) & Q(number__isnull=False)),
                name=_NUMBER_WHEN_ISSUED,
            ),
        ),
        ValidateConstraint(model_name="invoice", name=_NUMBER_WHEN_ISSUED),
        migrations.RunSQL(_MAY_CHANGE_WHILE_CLOSING, migrations.RunSQL.noop),
    ]
