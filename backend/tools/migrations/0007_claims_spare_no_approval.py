from django.db import migrations


class Migration(migrations.Migration):
    """Until now a server's own claim set this; nobody knows of which tools a manager had meant it."""

    dependencies = [("tools", "0006_held_tools")]

    operations = [
        migrations.RunSQL(
            "UPDATE tools_tool SET needs_approval = TRUE FROM tools_toolserver server"
            " WHERE server.id = server_id AND server.kind = 'mcp' AND claims_read_only",
            migrations.RunSQL.noop,
        ),
    ]
