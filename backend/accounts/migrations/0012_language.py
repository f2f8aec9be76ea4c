from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_project_instructions")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="language",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="BCP 47, of the page and of mails; empty: the page as their browser says.",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="pendingsignup",
            name="language",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Of the page that they signed up on, which becomes the account's.",
                max_length=10,
            ),
        ),
    ]
