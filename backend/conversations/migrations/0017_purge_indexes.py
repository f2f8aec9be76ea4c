from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("conversations", "0016_message_claimed_until")]

    operations = [
        AddIndexConcurrently(
            model_name="conversation",
            index=models.Index(
                fields=["organization", "updated_at"], name="conversation_by_organization"
            ),
        ),
        AddIndexConcurrently(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("is_temporary", True)),
                fields=["updated_at"],
                name="conversation_temporary",
            ),
        ),
    ]
