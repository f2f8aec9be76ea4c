"""The table, its primary key and its permissions follow the app's new name."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("generation", "0001_initial"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AlterModelTable(name="generation", table=None),
        migrations.RunSQL(
            "ALTER INDEX gateway_generation_pkey RENAME TO generation_generation_pkey",
            "ALTER INDEX generation_generation_pkey RENAME TO gateway_generation_pkey",
        ),
        migrations.RunSQL(
            "UPDATE django_content_type SET app_label = 'generation' WHERE app_label = 'gateway'",
            "UPDATE django_content_type SET app_label = 'gateway' WHERE app_label = 'generation'",
        ),
    ]
