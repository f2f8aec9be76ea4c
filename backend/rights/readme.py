"""README.md of an export: what its files hold, table by table and field by field.

Written from the models and the registry, so that it cannot differ from what the export holds.
"""

from django.db import models
from django.db.models import Field

from backend.rights.models import DataExport
from backend.rights.registry import BY_LABEL, Table

_TYPES: tuple[tuple[type[Field], str], ...] = (
    (models.BooleanField, "true or false"),
    (models.UUIDField, "UUID"),
    (models.DateTimeField, "time, RFC 3339, UTC"),
    (models.DateField, "date"),
    (models.DecimalField, "exact number, as text"),
    (models.FloatField, "number"),
    (models.IntegerField, "integer"),
    (models.JSONField, "JSON"),
)
_HEAD = """# Your data

A copy of the data of {kind} {subject}, asked for {asked} (UTC).

- Each `app.Model.jsonl` is a table: UTF-8, one JSON object a line, one line a row. A field
  without a value is `null`. A field `…_id` is the `id` of a row of another table, which it names.
- Files that were uploaded are `files/app.Model/ID.TYPE`, by the id of their row.
- `README.json` has the same facts for programs: the format's name, whose data it is, rows by table.
- Left out are passwords, the secrets of keys and other credentials, and what is other people's.
"""


def readme_text(job: DataExport) -> str:
    """The document, of the tables that have rows."""
    parts = [
        _HEAD.format(kind=job.kind, subject=job.subject_id, asked=f"{job.created_at:%Y-%m-%d}")
    ]
    parts += [_table(BY_LABEL[label], count) for label, count in job.progress.items() if count]
    return "\n".join(parts)


def _table(table: Table, count: int) -> str:
    meta = table.model._meta
    about = (table.model.__doc__ or "").strip().split("\n\n")[0]
    about = "" if about.startswith(f"{meta.object_name}(") else " ".join(about.split())
    lines = [f"## {table.label}.jsonl", "", f"{count} rows. {about}".strip(), ""]
    lines += ["| field | type | |", "|---|---|---|"]
    for field in meta.concrete_fields:
        if field.attname not in table.hidden:
            lines.append(f"| `{field.attname}` | {_type(field)} | {_note(field)} |")
    lines += [f"| `{name}` | text | decrypted |" for name in table.extra]
    return "\n".join([*lines, ""])


def _type(field: Field) -> str:
    if field.remote_field is not None:
        return f"id in {field.remote_field.model._meta.label}"
    return next((name for kind, name in _TYPES if isinstance(field, kind)), "text")


def _note(field: Field) -> str:
    notes = [str(field.help_text)] if field.help_text else []
    if field.choices:
        notes.append("One of " + ", ".join(f"`{value}`" for value, _ in field.flatchoices) + ".")
    return " ".join(notes).replace("|", "\\|").replace("\n", " ")
