"""Image and reasoning tokens go: nothing ever counted them.

Not compatible with processes of the version before, which write those columns: they are stopped
before it runs (docs/operations.md, "Upgrade").
"""

from django.db import migrations, models

# A prompt that had been priced by such a column would be priced differently without it, and an
# issued invoice would lose what explains it: so nothing is dropped that holds a number.
REFUSE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM billing_usagerecord WHERE image_tokens <> 0 OR reasoning_tokens <> 0)
        OR EXISTS (SELECT FROM billing_invoiceline WHERE image_tokens <> 0 OR reasoning_tokens <> 0)
    THEN
        RAISE EXCEPTION 'the ledger counts image or reasoning tokens, which this version cannot'
            ' price: stay at the version before';
    END IF;
END $$
"""
# Prices that nothing was ever charged by; the price book is append-only to everybody else.
DELETE_PRICES = """
ALTER TABLE billing_price DISABLE TRIGGER append_only;
DELETE FROM billing_price WHERE kind IN ('image', 'reasoning');
ALTER TABLE billing_price ENABLE TRIGGER append_only;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0010_void_frees_usage"),
    ]

    operations = [
        migrations.RunSQL(REFUSE, migrations.RunSQL.noop),
        migrations.RunSQL(DELETE_PRICES, migrations.RunSQL.noop),
        migrations.RemoveConstraint(
            model_name="usagerecord",
            name="usage_input_contains_parts",
        ),
        migrations.RemoveConstraint(
            model_name="usagerecord",
            name="usage_output_contains_reasoning",
        ),
        migrations.RemoveField(
            model_name="invoiceline",
            name="image_tokens",
        ),
        migrations.RemoveField(
            model_name="invoiceline",
            name="reasoning_tokens",
        ),
        migrations.RemoveField(
            model_name="usageevent",
            name="image_tokens",
        ),
        migrations.RemoveField(
            model_name="usageevent",
            name="reasoning_tokens",
        ),
        migrations.RemoveField(
            model_name="usagerecord",
            name="image_tokens",
        ),
        migrations.RemoveField(
            model_name="usagerecord",
            name="reasoning_tokens",
        ),
        migrations.RemoveField(
            model_name="usagerollup",
            name="image_tokens",
        ),
        migrations.RemoveField(
            model_name="usagerollup",
            name="reasoning_tokens",
        ),
        migrations.AlterField(
            model_name="invoiceline",
            name="cached_input_tokens",
            field=models.PositiveBigIntegerField(),
        ),
        migrations.AlterField(
            model_name="invoiceline",
            name="input_tokens",
            field=models.PositiveBigIntegerField(),
        ),
        migrations.AlterField(
            model_name="invoiceline",
            name="output_tokens",
            field=models.PositiveBigIntegerField(),
        ),
        migrations.AlterField(
            model_name="price",
            name="kind",
            field=models.CharField(
                choices=[
                    ("input", "Input"),
                    ("cached_input", "Cached input"),
                    ("output", "Output"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="usageevent",
            name="input_tokens",
            field=models.PositiveIntegerField(help_text="Cached tokens included."),
        ),
        migrations.AlterField(
            model_name="usageevent",
            name="output_tokens",
            field=models.PositiveIntegerField(),
        ),
        migrations.AlterField(
            model_name="usagerecord",
            name="input_tokens",
            field=models.PositiveIntegerField(help_text="Cached tokens included."),
        ),
        migrations.AlterField(
            model_name="usagerecord",
            name="output_tokens",
            field=models.PositiveIntegerField(),
        ),
        migrations.AddConstraint(
            model_name="usagerecord",
            constraint=models.CheckConstraint(
                condition=models.Q(("input_tokens__gte", models.F("cached_input_tokens"))),
                name="usage_input_contains_parts",
            ),
        ),
    ]
