"""An entry of ContentAccess is never changed or deleted, whoever holds the ORM."""

from django.db import migrations

CREATE = """
CREATE FUNCTION conversations_contentaccess_append_only() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'conversations_contentaccess is append-only'
        USING ERRCODE = 'restrict_violation';
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER contentaccess_append_only
    BEFORE UPDATE OR DELETE ON conversations_contentaccess
    FOR EACH ROW EXECUTE FUNCTION conversations_contentaccess_append_only();
"""
DROP = """
DROP TRIGGER contentaccess_append_only ON conversations_contentaccess;
DROP FUNCTION conversations_contentaccess_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial")]
    operations = [migrations.RunSQL(CREATE, DROP)]
