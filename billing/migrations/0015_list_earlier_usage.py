"""Records from before the trigger that have no event yet are listed too.

A transaction of its own: the trigger's, whose lock waits for every record under way, has ended,
so this one sees all that the trigger did not, and nobody waits while it looks.
"""

from django.db import migrations

LIST = """
INSERT INTO billing_unaggregatedusage (generation_id, organization_id)
SELECT generation_id, organization_id FROM billing_usagerecord AS record
WHERE NOT EXISTS (
    SELECT 1 FROM billing_usageevent AS event WHERE event.event_id = record.generation_id
)
ON CONFLICT (generation_id) DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0014_unaggregated_usage")]
    operations = [migrations.RunSQL(LIST, migrations.RunSQL.noop)]
