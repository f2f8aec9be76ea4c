"""A query that stands before every request, written as SQL once in a process.

Django writes the SQL of a query anew each time it is asked: where one joins and nests, that takes
longer than PostgreSQL's answer.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

# Stands in the SQL's parameters where a call's own value belongs.
_PLACE = UUID("00000000-0000-4000-8000-00000000face")


class CompiledQuery:
    """A query of rows for an id.

    Args:
        build: the query for an id, by `values_list`; nothing else in it may differ between calls.
    """

    def __init__(self, build: Callable[[UUID], QuerySet[Any, Any]]) -> None:
        self._build = build

    def rows(self, value: UUID) -> list[list[Any]]:
        """What the query finds for this id. Blocks."""
        sql, parameters, converters = self._written
        own = [value if parameter == _PLACE else parameter for parameter in parameters]
        with connection.cursor() as cursor:
            cursor.execute(sql, own)
            rows = [list(row) for row in cursor.fetchall()]
        for row in rows:
            for place, (functions, expression) in converters.items():
                for function in functions:
                    row[place] = function(row[place], expression, connection)
        return rows

    @cached_property
    def _written(self) -> tuple[str, tuple[Any, ...], dict[int, Any]]:
        """The SQL, its parameters, and what makes Python's values of the columns that need it."""
        compiler = self._build(_PLACE).query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        if _PLACE not in parameters:
            raise ValueError("The query does not ask for the id that it is given.")
        columns = [column for column, _, _ in compiler.select]
        return sql, tuple(parameters), compiler.get_converters(columns)
