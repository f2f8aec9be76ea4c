"""An event is never changed or deleted, whoever holds the ORM."""

from django.db import migrations

CREATE = """
CREATE FUNCTION audit_log_append_only() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'audit_log_auditevent is append-only'
        USING ERRCODE = 'restrict_violation';
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER audit_log_append_only
    BEFORE UPDATE OR DELETE ON audit_log_auditevent
    FOR EACH ROW EXECUTE FUNCTION audit_log_append_only();
"""
DROP = """
DROP TRIGGER audit_log_append_only ON audit_log_auditevent;
DROP FUNCTION audit_log_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("audit_log", "0001_audit_log")]
    operations = [migrations.RunSQL(CREATE, DROP)]
