"""Whose data it is."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Subject:
    """A user or an organization.

    Attributes:
        kind: `user` or `organization`.
        email: a user's address, for the tables that know it and not the user; "" when it is gone.
    """

    kind: str
    id: UUID
    email: str = ""
