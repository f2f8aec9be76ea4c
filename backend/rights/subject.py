"""Whose data it is."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Subject:
    """A user or an organization.

    Attributes:
        kind: `user` or `organization`.
        email: a user's address, for the tables that know it and not the user; "" from when their
            erasure was asked for: the address may be another person's then.
    """

    kind: str
    id: UUID
    email: str = ""
