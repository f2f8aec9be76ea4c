"""How one table is handled by an erasure and by an export."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.apps import apps
from django.db.models import Model, Q, QuerySet

from backend.rights.models import SubjectKind
from backend.rights.subject import Subject


class Fate(StrEnum):
    """What an erasure does with a subject's rows."""

    DELETED = "deleted"
    WITH_PARENT = "deleted with what it belongs to"
    BLANKED = "anonymised"
    KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """How one table is handled.

    Attributes:
        user, organization: lookups of the subject's id; None: no row is theirs.
        email: the field that holds the address of a user.
        on_user, on_organization: what an erasure does with the rows found.
        blank: the fields that are overwritten, with their values.
        hidden: fields that no export holds: secrets, and what is others'.
        extra: attributes that an export holds beside the fields.
        stored: fields with the name of a file in the storage, which an erasure deletes.
        folder: the folder in the storage that is a row's own, by its key; an erasure deletes it.
        exported: False: a copy of what another table has, or nothing but the product's own.
        why: of what is kept, shown in the certificate; of a table without subject, why none.
    """

    label: str
    user: str | None = None
    organization: str | None = None
    email: str | None = None
    on_user: Fate = Fate.DELETED
    on_organization: Fate = Fate.DELETED
    blank: Mapping[str, Any] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    folder: Callable[[Any], str] | None = None
    exported: bool = True
    why: str = ""

    @property
    def model(self) -> type[Model]:
        return apps.get_model(self.label)

    def fate(self, kind: str) -> Fate:
        return self.on_user if kind == SubjectKind.USER else self.on_organization

    def rows(self, subject: Subject) -> QuerySet[Model] | None:
        """The subject's rows; None where the table never has any."""
        found = Q(pk__in=[])
        if subject.kind == SubjectKind.ORGANIZATION:
            if self.organization is None:
                return None
            found = Q(**{self.organization: subject.id})
        else:
            if self.user is None and self.email is None:
                return None
            if self.user is not None:
                found |= Q(**{self.user: subject.id})
            if self.email is not None and subject.email:
                found |= Q(**{f"{self.email}__iexact": subject.email})
        return self.model._default_manager.filter(found)
