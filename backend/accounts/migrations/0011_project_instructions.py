from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0010_answer_reuse")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="instructions",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="What the model reads in each of its chats.",
            ),
        ),
    ]
