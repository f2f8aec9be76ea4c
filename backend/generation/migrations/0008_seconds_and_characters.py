from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("generation", "0007_embeddings_index"),
    ]

    operations = [
        migrations.AddField(
            model_name="generation",
            name="audio_seconds",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="generation",
            name="spoken_characters",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddIndex(
            model_name="generation",
            index=models.Index(
                condition=models.Q(("endpoint__in", ["transcription", "translation", "speech"])),
                fields=["organization", "finished_at"],
                name="generation_voice",
            ),
        ),
    ]
