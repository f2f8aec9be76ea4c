"""Rows of several tables written in one statement: one round trip, all of them or none.

A round trip to PostgreSQL costs a web process more than the row that it writes: a thread waits, and
takes the interpreter's lock back from all others. Where a service writes a fixed set of rows, it
builds them unsaved and hands them over here, in place of one `save` each inside a transaction.
Outside a transaction the statement is one of its own.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import AutoField, Field, Model
from django.db.models.expressions import DatabaseDefault


def rows_insert(rows: Sequence[Model]) -> None:
    """Insert new rows; they do not get what the database fills in.

    Raises:
        IntegrityError: one of them cannot be stored; then none is.
    """
    inserts = [_insert(row) for row in rows]
    named = [f"r{n} AS ({into} VALUES ({marks}))" for n, (into, marks, _) in enumerate(inserts)]
    _execute(f"WITH {', '.join(named)} SELECT 1", [value for one in inserts for value in one[2]])


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
    other = update[0]
    key, key_there = _column(model, _key(model)), _column(other, _key(other))
    sets = [f"{_column(model, n)} = %s" for n in changes]
    sets += [f"{_column(model, n)} = COALESCE({_column(model, n)}, %s)" for n in keep]
    tests = [f"{_column(model, n)} IN ({_marks(len(v))})" for n, v in only_if.items()]
    values = [_value(model, n, v) for n, v in (*changes.items(), *keep.items())]
    values += [pk, *(_value(model, n, v) for n, allowed in only_if.items() for v in allowed)]
    sets_there = ", ".join(f"{_column(other, n)} = %s" for n in update[1])
    values += [_value(other, n, v) for n, v in update[1].items()]
    inserts = [_insert(row) for row in insert]
    for _, _, of_row in inserts:
        values += of_row
    named = [
        f"changed AS (UPDATE {_table(model)} SET {', '.join(sets)}"
        f" WHERE {key} = %s AND {' AND '.join(tests)} RETURNING {key})",
        f"beside AS (UPDATE {_table(other)} SET {sets_there} FROM changed"
        f" WHERE {_table(other)}.{key_there} = changed.{key})",
        *(f"r{n} AS ({into} SELECT {m} FROM changed)" for n, (into, m, _) in enumerate(inserts)),
    ]
    return bool(_execute(f"WITH {', '.join(named)} SELECT count(*) FROM changed", values)[0])


def _insert(row: Model) -> tuple[str, str, list[Any]]:
    """`INSERT INTO` with its columns, a mark for each, and their values."""
    model = type(row)
    names: list[str] = []
    values: list[Any] = []
    for field in _fields(model):
        value = field.pre_save(row, True)
        if isinstance(value, DatabaseDefault) or (value is None and isinstance(field, AutoField)):
            continue
        names.append(field.attname)
        values.append(field.get_db_prep_save(value, connection))
    return _into(model, tuple(names)), _marks(len(names)), values


@cache
def _fields(model: type[Model]) -> tuple["Field[Any, Any]", ...]:
    return tuple(model._meta.local_concrete_fields)


@cache
def _into(model: type[Model], names: tuple[str, ...]) -> str:
    columns = ", ".join(_column(model, name) for name in names)
    return f"INSERT INTO {_table(model)} ({columns})"


def _value(model: type[Model], name: str, value: Any) -> Any:
    return _field(model, name).get_db_prep_save(value, connection)


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


@cache
def _marks(count: int) -> str:
    return ", ".join(["%s"] * count)


def _execute(sql: str, values: list[Any]) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found: tuple[Any, ...] = cursor.fetchone()
    return found
