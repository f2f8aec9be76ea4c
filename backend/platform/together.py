"""Rows of several tables written in one statement: one round trip, all of them or none.

A round trip to PostgreSQL costs a web process more than the row that it writes: a thread waits, and
takes the interpreter's lock back from all others. Where a service writes a fixed set of rows, it
builds them unsaved and hands them over here, in place of one `save` each inside a transaction.
Outside a transaction the statement is one of its own.

A statement is written once for each set of columns. The server binds its values and, from the
fifth time on, knows its plan; behind a pooler it plans anew (backend/databases.py). Django's own
cursors write values into the statement, which costs this process as much as all else about it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models import AutoField, DateField, Field, Model, TimeField
from django.db.models.expressions import DatabaseDefault
from psycopg.types.numeric import Int4, Int8

_INTEGERS_KEPT = 1024
"""Most counts are small, and many are zero."""

_Columns = tuple[type[Model], tuple[str, ...]]
"""A table, and the attributes of its rows that are written."""

# Values of these types go to the server as they are. An integer says its width: else the server
# would plan a statement for each width that its value could have.
_AS_THEY_ARE: dict[type, type] = {
    models.CharField: str,
    models.TextField: str,
    models.UUIDField: UUID,
    models.ForeignKey: UUID,
    models.OneToOneField: UUID,
    models.DateTimeField: datetime,
    models.FloatField: float,
    models.BooleanField: bool,
}
_WIDTHS: dict[type, Callable[[int], int]] = {
    models.IntegerField: lru_cache(_INTEGERS_KEPT)(Int4),
    models.PositiveIntegerField: lru_cache(_INTEGERS_KEPT)(Int4),
    models.BigIntegerField: lru_cache(_INTEGERS_KEPT)(Int8),
}


def rows_insert(rows: Sequence[Model]) -> None:
    """Insert new rows; they do not get what the database fills in.

    Raises:
        IntegrityError: one of them cannot be stored; then none is.
    """
    values: list[Any] = []
    written = tuple(_written(row, values) for row in rows)
    _execute(_insert_sql(written), values)


def row_update_and_insert(
    model: type[Model],
    pk: UUID,
    *,
    only_if: Mapping[str, Sequence[Any]],
    changes: Mapping[str, Any],
    keep: Mapping[str, Any],
    update: tuple[type[Model], Mapping[str, Any]],
    insert: Sequence[Model],
) -> bool:
    """Change a row where it is as expected, and only then insert others.

    Args:
        only_if: the values that a column may have.
        keep: what columns get that are null.
        update: a model whose primary key is `pk` too, and changes to its row, where there is one.
    Returns:
        Whether the row was as expected. Else nothing is changed.
    """
    other, other_changes = update
    values = [_value(_field(model, n), v) for n, v in (*changes.items(), *keep.items())]
    values.append(pk)
    values += [_value(_field(model, n), v) for n, allowed in only_if.items() for v in allowed]
    values += [_value(_field(other, n), v) for n, v in other_changes.items()]
    inserted = tuple(_written(row, values) for row in insert)
    tests = tuple((name, len(allowed)) for name, allowed in only_if.items())
    changed = (model, tuple(changes))
    sql = _update_sql(changed, tuple(keep), tests, (other, tuple(other_changes)), inserted)
    return bool(_execute(sql, values)[0])


@cache
def _insert_sql(written: tuple[_Columns, ...]) -> str:
    numbers = count(1)
    named = [f"r{n} AS ({_into(c)} VALUES ({_marks(c, numbers)}))" for n, c in enumerate(written)]
    return f"WITH {', '.join(named)} SELECT 1"


@cache
def _update_sql(
    changed: _Columns,
    keep: tuple[str, ...],
    tests: tuple[tuple[str, int], ...],
    beside: _Columns,
    inserted: tuple[_Columns, ...],
) -> str:
    """Its numbered parameters are in the order in which `row_update_and_insert` lists values."""
    numbers = count(1)
    (model, changes), (other, other_changes) = changed, beside
    key, key_there = _column(model, _key(model)), _column(other, _key(other))
    sets = [f"{_column(model, n)} = ${next(numbers)}" for n in changes]
    sets += [f"{c} = COALESCE({c}, ${next(numbers)})" for c in (_column(model, n) for n in keep)]
    where = [f"{key} = ${next(numbers)}"]
    where += [
        f"{_column(model, n)} IN ({', '.join(f'${next(numbers)}' for _ in range(length))})"
        for n, length in tests
    ]
    sets_there = ", ".join(f"{_column(other, n)} = ${next(numbers)}" for n in other_changes)
    named = [
        f"changed AS (UPDATE {_table(model)} SET {', '.join(sets)}"
        f" WHERE {' AND '.join(where)} RETURNING {key})",
        f"beside AS (UPDATE {_table(other)} SET {sets_there} FROM changed"
        f" WHERE {_table(other)}.{key_there} = changed.{key})",
        *(
            f"r{n} AS ({_into(c)} SELECT {_marks(c, numbers)} FROM changed)"
            for n, c in enumerate(inserted)
        ),
    ]
    return f"WITH {', '.join(named)} SELECT count(*) FROM changed"


def _written(row: Model, values: list[Any]) -> _Columns:
    """Which columns `row` is written with; their values are added to `values`."""
    model, of_row = type(row), vars(row)
    names: list[str] = []
    for field, name, as_it_is, width, sets_itself, is_counted in _fields(model):
        value = field.pre_save(row, True) if sets_itself else of_row[name]
        kind = type(value)
        if kind is DatabaseDefault or (is_counted and value is None):
            continue
        names.append(name)
        if kind is as_it_is or value is None:
            values.append(value)
        elif width is not None and kind is int:
            values.append(width(value))
        else:
            values.append(_value(field, value))
    return model, tuple(names)


def _value(field: "Field[Any, Any]", value: Any) -> Any:
    """`value` as the server gets it."""
    kind, found = type(field), type(value)
    as_it_is = _AS_THEY_ARE.get(kind)
    if value is None or found is as_it_is or (as_it_is is str and isinstance(value, str)):
        return value  # of choices, the third: they are texts
    if found is int and kind in _WIDTHS:
        return _WIDTHS[kind](value)
    return field.get_db_prep_save(value, connection)


_Written = tuple["Field[Any, Any]", str, type | None, Callable[[int], int] | None, bool, bool]
"""A field, its attribute, the type of values that go as they are, the width of integers, whether it
sets a value when its row is written, and whether the database counts it up."""


@cache
def _fields(model: type[Model]) -> tuple[_Written, ...]:
    return tuple(
        (
            field,
            field.attname,
            _AS_THEY_ARE.get(type(field)),
            _WIDTHS.get(type(field)),
            _sets_itself(field),
            isinstance(field, AutoField),
        )
        for field in model._meta.local_concrete_fields
    )


def _sets_itself(field: "Field[Any, Any]") -> bool:
    if isinstance(field, DateField | TimeField):
        return field.auto_now or field.auto_now_add
    return type(field).pre_save is not Field.pre_save


def _into(columns: _Columns) -> str:
    model, names = columns
    return f"INSERT INTO {_table(model)} ({', '.join(_column(model, name) for name in names)})"


def _marks(columns: _Columns, numbers: Iterator[int]) -> str:
    return ", ".join(f"${next(numbers)}" for _ in columns[1])


@cache
def _column(model: type[Model], name: str) -> str:
    column = _field(model, name).column
    assert column is not None
    return connection.ops.quote_name(column)


@cache
def _table(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _key(model: type[Model]) -> str:
    key: str = model._meta.pk.attname
    return key


@cache
def _field(model: type[Model], name: str) -> "Field[Any, Any]":
    found: Field[Any, Any] = model._meta.get_field(name)  # type: ignore[assignment]
    return found


def _execute(sql: str, values: list[Any]) -> tuple[Any, ...]:
    """The first row that a statement gives.

    In a transaction, and where this thread has a connection of Django's already, it is that one's.
    Else the statement is alone, and takes a connection of the pool for as long as it runs: Django
    builds the parameters of a connection anew for each that it takes from there.
    """
    wrapper: Any = connections[DEFAULT_DB_ALIAS]
    if wrapper.connection is not None or wrapper.in_atomic_block or wrapper.queries_logged:
        return _execute_in_session(sql, values)
    with wrapper.wrap_database_errors:
        pool = wrapper.pool
        pool.open()
        lent = pool.getconn()
        try:
            cursor: Any = psycopg.RawCursor(lent)
            found: tuple[Any, ...] = cursor.execute(sql, values).fetchone()
        finally:
            pool.putconn(lent)
    return found


def _execute_in_session(sql: str, values: list[Any]) -> tuple[Any, ...]:
    connection.ensure_connection()
    prepare: Any = connection._prepare_cursor  # type: ignore[attr-defined]
    with (
        connection.wrap_database_errors,
        prepare(psycopg.RawCursor(connection.connection)) as cursor,
    ):
        cursor.execute(sql, values)
        found: tuple[Any, ...] = cursor.fetchone()
    return found
