"""A voided invoice gives its credit back and frees its usage, so that the month can be closed again:
credit is reversed, expires again where it had expired, and a record may leave a void invoice."""

from django.conf import settings
from django.db import migrations, models

FREE = """
CREATE OR REPLACE FUNCTION billing_invoice_once() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE expected billing_usagerecord%ROWTYPE;
BEGIN
    expected := OLD;
    expected.invoice_id := NEW.invoice_id;
    IF NEW IS DISTINCT FROM expected THEN
        RAISE EXCEPTION 'billing_usagerecord is append-only: UPDATE refused'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.invoice_id IS NOT NULL AND (NEW.invoice_id IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM billing_invoice WHERE id = OLD.invoice_id AND status = 'void'
    )) THEN
        RAISE EXCEPTION 'billing_usagerecord: a record leaves an invoice only when that is void'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
"""
ONCE = """
CREATE OR REPLACE FUNCTION billing_invoice_once() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE expected billing_usagerecord%ROWTYPE;
BEGIN
    expected := OLD;
    expected.invoice_id := NEW.invoice_id;
    IF OLD.invoice_id IS NOT NULL OR NEW IS DISTINCT FROM expected THEN
        RAISE EXCEPTION 'billing_usagerecord is append-only: UPDATE refused'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_plans"),
        ("billing", "0009_model_cost_history"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="creditentry",
            name="credit_signs",
        ),
        migrations.RemoveConstraint(
            model_name="creditentry",
            name="credit_expires_once",
        ),
        migrations.RemoveConstraint(
            model_name="invoice",
            name="invoice_one_a_month",
        ),
        migrations.AlterField(
            model_name="creditentry",
            name="kind",
            field=models.CharField(
                choices=[
                    ("grant", "Grant"),
                    ("debit", "Debit"),
                    ("expiry", "Expiry"),
                    ("reversal", "given back"),
                ],
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            model_name="creditentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("amount__gt", 0), ("grant", None), ("kind", "grant")),
                    models.Q(
                        ("amount__lt", 0),
                        ("grant__isnull", False),
                        ("kind__in", ["debit", "expiry"]),
                    ),
                    models.Q(("amount__gt", 0), ("grant__isnull", False), ("kind", "reversal")),
                    _connector="OR",
                ),
                name="credit_signs",
            ),
        ),
        migrations.AddConstraint(
            model_name="invoice",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("kind", "invoice"), models.Q(("status", "void"), _negated=True)
                ),
                fields=("organization", "period_start"),
                name="invoice_one_a_month",
            ),
        ),
        migrations.RunSQL(FREE, ONCE),
    ]
