"""Documents are numbered by the seller's series, not by the first digits of a customer's id; taxes by
the customer's country."""

import django.core.validators
from django.db import migrations, models

# Of a draft that is issued, the series is given with the number.
FINAL = """
CREATE OR REPLACE FUNCTION billing_issued_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE expected billing_invoice%ROWTYPE;
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'an invoice is never deleted: void it'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    expected := OLD;
    expected.status := NEW.status;
    IF OLD.status = 'draft' THEN
        {series}expected.number := NEW.number;
        expected.issued_at := NEW.issued_at;
        expected.due_at := NEW.due_at;
    ELSE
        expected.paid_at := NEW.paid_at;
        expected.voided_at := NEW.voided_at;
    END IF;
    IF NEW IS DISTINCT FROM expected OR (OLD.status <> 'draft' AND NEW.status = 'draft') THEN
        RAISE EXCEPTION 'an invoice is immutable: correct it by a credit note'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_account_life"),
        ("billing", "0018_usage_sums"),
    ]

    operations = [
        migrations.RunSQL(
            FINAL.format(series="expected.series := NEW.series;\n        "), FINAL.format(series="")
        ),
        migrations.CreateModel(
            name="InvoiceSeries",
            fields=[
                ("name", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("last", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name_plural": "invoice series",
            },
        ),
        migrations.RemoveConstraint(
            model_name="invoice",
            name="invoice_number_unique",
        ),
        migrations.AddField(
            model_name="billingaccount",
            name="country",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="ISO 3166, such as DE.",
                max_length=2,
                validators=[django.core.validators.RegexValidator("^[A-Z]{2}$")],
            ),
        ),
        migrations.AddField(
            model_name="invoice",
            name="series",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Given when issued. Empty: from before there were series, numbered by customer.",
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="billingaccount",
            name="tax_rate",
            field=models.DecimalField(
                blank=True,
                decimal_places=4,
                help_text="0.19 is 19 %. Empty: the country's rate, else the installation's.",
                max_digits=6,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(0),
                    django.core.validators.MaxValueValidator(1),
                ],
            ),
        ),
        migrations.AddConstraint(
            model_name="invoice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("series", "")),
                fields=("organization", "number"),
                name="invoice_number_unique",
            ),
        ),
        migrations.AddConstraint(
            model_name="invoice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("series", ""), _negated=True),
                fields=("series", "number"),
                name="invoice_series_number_unique",
            ),
        ),
        migrations.DeleteModel(
            name="InvoiceSequence",
        ),
    ]
