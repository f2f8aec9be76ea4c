"""TRUNCATE is refused as UPDATE and DELETE are: row triggers do not see it."""

from django.db import migrations

CREATE = """
CREATE TRIGGER audit_log_no_truncate
    BEFORE TRUNCATE ON audit_log_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_append_only();
"""
DROP = "DROP TRIGGER audit_log_no_truncate ON audit_log_auditevent;"


class Migration(migrations.Migration):
    dependencies = [("audit_log", "0002_append_only")]
    operations = [migrations.RunSQL(CREATE, DROP)]
