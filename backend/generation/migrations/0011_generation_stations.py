from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("generation", "0010_rollouts"),
    ]

    operations = [
        migrations.AddField(
            model_name="generation",
            name="stations",
            field=models.JSONField(
                blank=True,
                help_text="Milliseconds at each station; generation/stations.py.",
                null=True,
            ),
        ),
    ]
