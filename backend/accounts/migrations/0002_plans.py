"""The three plans. Their limits may be changed in the admin; a later migrate leaves them alone."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

PLANS = [
    # slug, name, queue_priority, requests/min, tokens/min, concurrent generations
    ("premium", "Premium", 0, 600, 2_000_000, 64),
    ("standard", "Standard", 10, 120, 400_000, 16),
    ("free", "Free", 20, 20, 60_000, 4),
]


def create_plans(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    Plan = apps.get_model("accounts", "Plan")
    for slug, name, priority, requests, tokens, concurrent in PLANS:
        Plan.objects.get_or_create(
            slug=slug,
            defaults={
                "name": name,
                "queue_priority": priority,
                "requests_per_minute": requests,
                "tokens_per_minute": tokens,
                "concurrent_generations": concurrent,
            },
        )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(create_plans, migrations.RunPython.noop)]
