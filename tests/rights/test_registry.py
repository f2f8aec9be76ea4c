"""The registry knows every table: what an export and an erasure do with it is decided, not left."""

import pytest
from django.db.models import SET_NULL, FileField, ForeignKey, OneToOneField

from backend.accounts.models import Organization, User
from backend.rights.registry import TABLES, Fate, unregistered


def test_registry_names_every_model() -> None:
    """A new model: a line in backend/rights/tables/ says what becomes of its rows."""
    assert unregistered() == []
    labels = [table.label for table in TABLES]
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize(("owner", "kind"), [(User, "user"), (Organization, "organization")])
def test_table_that_points_at_an_owner_is_reached_by_its_erasure(owner: type, kind: str) -> None:
    """Unless the only pointers are to staff, which SET_NULL marks in this code."""
    for table in TABLES:
        pointers = [
            field
            for field in table.model._meta.get_fields()
            if isinstance(field, ForeignKey | OneToOneField)
            and field.related_model is owner
            and field.remote_field.on_delete is not SET_NULL
        ]
        if pointers:
            assert getattr(table, kind) is not None, (table.label, pointers)


def test_kept_tables_have_a_reason_and_every_named_field_exists() -> None:
    for table in TABLES:
        columns = {field.attname for field in table.model._meta.concrete_fields}
        assert columns >= {*table.hidden, *table.blank, *table.stored}, table.label
        files = {f.attname for f in table.model._meta.fields if isinstance(f, FileField)}
        assert files <= {*table.stored}, table.label
        for attribute in table.extra:
            assert hasattr(table.model, attribute), table.label
        kept = table.user and table.on_user is Fate.KEPT
        if kept or (table.organization and table.on_organization is Fate.KEPT):
            assert table.why, table.label
        if table.user is table.organization is table.email is None:
            assert table.why, table.label
