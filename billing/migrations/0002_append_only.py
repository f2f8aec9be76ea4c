"""The ledger and the price book are append-only, and the database itself holds that."""

from django.db import migrations

CREATE = """
CREATE FUNCTION billing_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON billing_usagerecord
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON billing_price
    FOR EACH ROW EXECUTE FUNCTION billing_append_only();
"""
DROP = """
DROP TRIGGER append_only ON billing_price;
DROP TRIGGER append_only ON billing_usagerecord;
DROP FUNCTION billing_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]
    operations = [migrations.RunSQL(CREATE, DROP)]
