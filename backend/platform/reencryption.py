"""Which columns hold values of a key version, and how they are moved to the version that writes.

settings.KEYED_COLUMNS names every such column. Rows are read in the order of their primary key, in
batches; each is replaced only if it is still what was read, so nothing that is written meanwhile is
lost. An interrupted run is begun again, and finds most of it done.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.utils.module_loading import import_string

from backend.platform.encryption import Unreadable, decrypt, encrypt, keyring, version_of
from backend.platform.keys import Purpose

BATCH = 500


@dataclass(frozen=True, slots=True)
class KeyedColumn:
    """A column whose values need a key version to be read.

    Attributes:
        label: what the values are, in the plural.
        model: `app.Model`.
        version: of a value; None where no known key made it.
        renewed: a row's value under the version that writes. Raises Unreadable.
        related: what `renewed` reads beside the row.
        after: called with each row that was replaced.
        is_encrypted: its values begin with their version (`encryption.encrypt`).
    """

    label: str
    model: str
    field: str
    version: Callable[[Any], int | None]
    renewed: Callable[[Any], Any]
    related: tuple[str, ...] = ()
    after: Callable[[Any], None] | None = None
    is_encrypted: bool = False

    def rows(self) -> Any:
        rows = apps.get_model(self.model)._default_manager.order_by("pk")
        return rows.select_related(*self.related) if self.related else rows


@dataclass(slots=True)
class Renewed:
    """What one run did to a column: rows replaced, and rows that no key reads."""

    replaced: int = 0
    unreadable: int = 0


def keyed_columns() -> list[KeyedColumn]:
    return [import_string(path) for path in settings.KEYED_COLUMNS]


def encrypted_column(
    *, label: str, model: str, field: str, purpose: Purpose, context: tuple[str, ...]
) -> KeyedColumn:
    """A column of `encryption.encrypt`, as text or as its bytes.

    Args:
        context: attributes of the row (`decision.organization_id` follows a relation), in the
            order in which `encrypt` got their values.
    """

    def renewed(row: Model) -> Any:
        stored = getattr(row, field)
        place = [attrgetter(name)(row) for name in context]
        plain = decrypt(_as_text(stored), purpose=purpose, context=place)
        value = encrypt(plain, purpose=purpose, context=place)
        return value if isinstance(stored, str) else value.encode()

    return KeyedColumn(
        label=label,
        model=model,
        field=field,
        version=lambda stored: version_of(_as_text(stored)),
        renewed=renewed,
        related=tuple({name.partition(".")[0] for name in context if "." in name}),
        is_encrypted=True,
    )


def renew(column: KeyedColumn, *, batch: int = BATCH) -> Renewed:
    """Bring every value under the version that writes. Safe to interrupt, and to run twice."""
    done = Renewed()
    for row in _by_batches(column, batch):
        stored = getattr(row, column.field)
        if column.version(stored) == keyring().writing():
            continue
        try:
            value = column.renewed(row)
        except Unreadable:
            done.unreadable += 1
            continue
        if value == stored:
            continue  # nothing in it is of a key: a passkey, a mail that was sent
        # Not `save`: a value that was written since it was read must win.
        same = column.rows().filter(pk=row.pk, **{column.field: stored})
        if same.order_by().update(**{column.field: value}):
            done.replaced += 1
            if column.after is not None:
                column.after(row)
    return done


def versions_in_use(column: KeyedColumn) -> Counter[int]:
    """How many values each version has made; those that no known key reads are left out."""
    counted: Counter[int] = Counter()
    for stored in column.rows().values_list(column.field, flat=True).iterator():
        version = column.version(stored)
        if version is not None:
            counted[version] += 1
    return counted


def _by_batches(column: KeyedColumn, batch: int) -> Iterator[Any]:
    rows = column.rows()
    found = list(rows[:batch])
    while found:
        yield from found
        found = list(rows.filter(pk__gt=found[-1].pk)[:batch])


def _as_text(stored: Any) -> str:
    return stored if isinstance(stored, str) else bytes(stored).decode("ascii", "replace")
