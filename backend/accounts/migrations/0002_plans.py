"""The plans, for later migrations to rely on; defaults.py says what they are."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from backend.accounts.defaults import plans_ensure


def create_plans(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    plans_ensure(apps.get_model("accounts", "Plan"))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(create_plans, migrations.RunPython.noop)]
