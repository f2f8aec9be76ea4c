"""A price's project is a part of what is append-only: 0027 added the column, the trigger names
columns."""

from django.db import migrations

COLUMNS = "currency, organization_id, model, kind, tiers, effective_from, note"


def trigger(columns: str) -> str:
    return f"""
    DROP TRIGGER append_only ON billing_price;
    CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OF {columns}
        ON billing_price FOR EACH ROW EXECUTE FUNCTION billing_append_only();
    """


class Migration(migrations.Migration):
    dependencies = [("billing", "0029_partition_empty_event_store")]
    operations = [migrations.RunSQL(trigger(f"{COLUMNS}, project_id"), trigger(COLUMNS))]
