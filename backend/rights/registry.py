"""Every table of every app, and what an erasure and an export do with its rows.

A model that is missing here fails tests/rights/test_registry.py. The order is that of an erasure:
what points at another row comes before it. The lines themselves are in `tables/`, by subject.
"""

from django.apps import apps

from backend.rights.table import Fate, Table
from backend.rights.tables.content import CONTENT
from backend.rights.tables.money import MONEY
from backend.rights.tables.operator import OPERATOR
from backend.rights.tables.people import PEOPLE

__all__ = ["BY_LABEL", "TABLES", "Fate", "Table", "unregistered"]

TABLES: tuple[Table, ...] = (*CONTENT, *MONEY, *PEOPLE, *OPERATOR)

BY_LABEL = {table.label: table for table in TABLES}


def unregistered() -> list[str]:
    """Models of the installed apps that no line names."""
    return sorted({model._meta.label for model in apps.get_models()} - BY_LABEL.keys())
