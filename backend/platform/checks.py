"""Refuses a deployment whose keys lack a version that stored values still need.

`manage.py migrate`, which every deployment runs first, asks this; so a version that was taken out
of PARLEY_KEYS too early is named before a process starts without it.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Error
from django.db import connections

from backend.platform.encryption import keyring
from backend.platform.keys import versions_named
from backend.platform.reencryption import keyed_columns

_SQL = "SELECT DISTINCT substr({column}, 1, 11) FROM {table}"  # v, nine digits, a point


def needed_keys_are_known(
    app_configs: Any = None, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    if "default" not in (databases or []):
        return []
    connection = connections["default"]
    tables = set(connection.introspection.table_names())
    errors: list[CheckMessage] = []
    for column in keyed_columns():
        model = apps.get_model(column.model)._meta
        if not column.is_encrypted or model.db_table not in tables:
            continue
        with connection.cursor() as cursor:
            quote = connection.ops.quote_name
            name = quote(model.get_field(column.field).column)
            cursor.execute(_SQL.format(column=name, table=quote(model.db_table)))
            heads = [head for (head,) in cursor.fetchall()]
        needed = {column.version(_whole(head)) for head in heads}
        unknown = {version for version in needed if version is not None} - set(keyring().versions())
        if unknown:
            errors.append(
                Error(
                    f"{column.label} are encrypted with key version {versions_named(unknown)},"
                    " which PARLEY_KEYS no longer lists.",
                    hint="List it again, and run `manage.py rotate-keys` before it is dropped.",
                    id="parley.E001",
                )
            )
    return errors


def _whole(head: Any) -> str:
    """A value with the version of `head`, the start of one."""
    text = head if isinstance(head, str) else bytes(head).decode("ascii", "replace")
    return f"{text.partition('.')[0]}.A"
