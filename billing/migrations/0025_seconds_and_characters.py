"""Columns for seconds of audio and spoken characters; the triggers that sum usage take them from
the catalogue by name, so they learn the two new names."""

from django.db import migrations, models

_TOKENS = r"attname LIKE '%\_tokens'"
_ALL = _TOKENS + " OR attname IN ('audio_seconds', 'spoken_characters')"


def _rewritten(old: str, new: str) -> str:
    """Both functions with `new` in the place of `old`."""
    return f"""
        DO $body$
        BEGIN
            EXECUTE replace(pg_get_functiondef('billing_sum_days'::regproc), $${old}$$, $${new}$$);
            EXECUTE replace(pg_get_functiondef('billing_sum_groups'::regproc), $${old}$$, $${new}$$);
        END
        $body$
    """


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0024_failed_refunds"),
    ]

    operations = [
        migrations.AddField(
            model_name="invoiceline",
            name="audio_seconds",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="invoiceline",
            name="spoken_characters",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usageday",
            name="audio_seconds",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usageday",
            name="spoken_characters",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usageevent",
            name="audio_seconds",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usageevent",
            name="spoken_characters",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usagerecord",
            name="audio_seconds",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usagerecord",
            name="spoken_characters",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usagerollup",
            name="audio_seconds",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usagerollup",
            name="spoken_characters",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usagesum",
            name="audio_seconds",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="usagesum",
            name="spoken_characters",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="price",
            name="kind",
            field=models.CharField(
                choices=[
                    ("input", "Input"),
                    ("cached_input", "Cached input"),
                    ("output", "Output"),
                    ("reasoning", "Reasoning"),
                    ("audio", "Seconds of audio"),
                    ("characters", "Characters spoken"),
                ],
                max_length=16,
            ),
        ),
        migrations.RunSQL(_rewritten(_TOKENS, _ALL), _rewritten(_ALL, _TOKENS)),
    ]
