from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("api", "0009_batch_ids_have_a_time")]

    operations = [
        AddIndexConcurrently(
            model_name="requestlog",
            index=models.Index(fields=["project", "created_at"], name="request_log_of_project"),
        ),
    ]
