from django.db import migrations, models


class Migration(migrations.Migration):
    """Tools that are allowed were looked at as they are; what they say is read with the next look
    at their server."""

    dependencies = [("tools", "0005_tool_call_withheld")]

    operations = [
        migrations.AddField(
            model_name="toolcall",
            name="is_withheld_in_part",
            field=models.BooleanField(
                db_default=False, default=False, help_text="It is given the rest of the result."
            ),
        ),
        migrations.AddField(
            model_name="tool",
            name="orders",
            field=models.TextField(
                blank=True,
                null=True,
                help_text="What of it reads like orders; null: it was not read.",
            ),
        ),
        migrations.AddField(
            model_name="tool",
            name="allowed_fingerprint",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="As it was last allowed.",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="tool",
            name="allowed_text",
            field=models.TextField(
                blank=True, db_default="", default="", help_text="What it said of itself then."
            ),
        ),
        migrations.RunSQL(
            "UPDATE tools_tool SET allowed_fingerprint = fingerprint,"
            " allowed_text = concat_ws(E'\\n', nullif(title, ''), nullif(description, ''))"
            " WHERE is_allowed",
            migrations.RunSQL.noop,
        ),
    ]
