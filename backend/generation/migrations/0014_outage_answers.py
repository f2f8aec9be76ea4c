"""A stored answer says which revision of its model computed it: in an outage, any may be given."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("generation", "0013_cached_answers")]

    operations = [
        migrations.AddField(
            model_name="cachedanswer",
            name="revision",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Of the model that computed it.",
            ),
        ),
        migrations.AlterField(
            model_name="generation",
            name="answer_source",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Whose answer it got: `shared`, `exact`, `outage`; empty: its own.",
                max_length=8,
            ),
        ),
    ]
