"""Whose turn it is among open batches: each model by itself, its organizations in turn.

A model that is out holds up its own batches only; a batch of fifty thousand lines takes no more of
a model's room than another customer's of ten.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef

from backend.api.models import OPEN_BATCH_STATES, Batch, BatchLine
from backend.platform.compiled_query import CompiledQuery

Owner = tuple[str, UUID]
"""A model, and an organization whose batches are of it."""

_OF_ORGANIZATION, _OF_MODEL = 5, 50
_MAX_REMEMBERED = 10_000

# Of each organization its oldest, and of more organizations than fit others each time.
_TURNS = """
SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY model ORDER BY nth, random()) AS place
    FROM (
        SELECT id, model, row_number() OVER (
            PARTITION BY model, organization_id ORDER BY created_at, id
        ) AS nth
        FROM api_batch WHERE state = ANY(%s)
    ) AS of_organization
    WHERE nth <= %s
) AS of_model
WHERE place <= %s
"""
# Nearly always there is none, and every web process looks once a second.
_ANY_OPEN = CompiledQuery(
    lambda: Batch.objects.filter(state__in=OPEN_BATCH_STATES).values_list("pk")[:1]
)


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """An open batch, as a round finds it."""

    row: Batch
    has_open_lines: bool


def open_batches() -> list[OpenBatch]:
    """Return the rows that a round looks at, oldest first."""
    if not _ANY_OPEN.rows():
        return []
    with connection.cursor() as cursor:
        states = [str(state) for state in OPEN_BATCH_STATES]
        cursor.execute(_TURNS, [states, _OF_ORGANIZATION, _OF_MODEL])
        ids = [pk for (pk,) in cursor.fetchall()]
    rows = Batch.objects.filter(pk__in=ids, state__in=OPEN_BATCH_STATES).order_by("created_at")
    undone = BatchLine.objects.filter(batch=OuterRef("pk"), is_done=False)
    with_open_lines = set(rows.filter(Exists(undone)).values_list("pk", flat=True))
    return [OpenBatch(row, row.pk in with_open_lines) for row in rows]


class Turns:
    """Shares the room of models among organizations, in one process."""

    def __init__(self) -> None:
        self._number = count(1)
        self._served: dict[Owner, int] = {}

    def order(self, batches: Iterable[Batch], running: Mapping[Owner, int]) -> list[list[Batch]]:
        """The batches of each organization. Those come first that have the fewest lines running,
        and of these who was served the longest ago.

        Args:
            running: lines of a model and organization.
        """
        owned: defaultdict[Owner, list[Batch]] = defaultdict(list)
        for batch in batches:
            owned[owner_of(batch)].append(batch)
        in_turn = sorted(owned, key=lambda owner: (running.get(owner, 0), self._last(owner)))
        return [owned[owner] for owner in in_turn]

    def served(self, batch: Batch) -> None:
        """Lines of its organization were begun."""
        if len(self._served) >= _MAX_REMEMBERED:
            self._served.clear()
        self._served[owner_of(batch)] = next(self._number)

    def _last(self, owner: Owner) -> int:
        return self._served.get(owner, 0)


def owner_of(batch: Batch) -> Owner:
    return batch.model, batch.organization_id
