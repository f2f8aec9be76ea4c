from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0004_page_python")]

    operations = [
        migrations.AddField(
            model_name="toolcall",
            name="is_withheld",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The model is not given the result: it reads like orders.",
            ),
        ),
    ]
