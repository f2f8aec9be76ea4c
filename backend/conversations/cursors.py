"""The opaque cursors of the lists: the place of the last row shown."""

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q

from backend.conversations.models import Conversation
from backend.platform.errors import InvalidRequest
from backend.platform.moments import utc


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the order: pinned ones first, then by `updated_at`, then by id.

    It carries no authority: the query that it continues is scoped like the first.
    """

    pinned: bool
    updated_at: datetime
    id: UUID

    @classmethod
    def of(cls, conversation: Conversation) -> "Cursor":
        return cls(conversation.pinned_at is not None, conversation.updated_at, conversation.id)

    def encode(self) -> str:
        return _encoded([self.pinned, self.updated_at, self.id])

    @classmethod
    def decode(cls, encoded: str) -> "Cursor":
        """Raises InvalidRequest for anything that `encode` did not make."""
        try:
            pinned, updated_at, id_ = _decoded(encoded)
            return cls(bool(pinned), _aware(updated_at), UUID(id_))
        except _NOT_OURS as error:
            raise _refused() from error

    def following(self) -> Q:
        """The rows after this place."""
        later = Q(updated_at__lt=self.updated_at) | Q(updated_at=self.updated_at, id__lt=self.id)
        if self.pinned:
            return Q(pinned_at=None) | later
        return Q(pinned_at=None) & later


@dataclass(frozen=True, slots=True)
class NewestFirst:
    """A place in a list by `created_at`, then by id. As `Cursor`, it carries no authority."""

    created_at: datetime
    id: UUID

    def encode(self) -> str:
        return _encoded([self.created_at, self.id])

    @classmethod
    def decode(cls, encoded: str) -> "NewestFirst":
        """Raises InvalidRequest for anything that `encode` did not make."""
        try:
            created_at, id_ = _decoded(encoded)
            return cls(_aware(created_at), UUID(id_))
        except _NOT_OURS as error:
            raise _refused() from error

    def following(self) -> Q:
        """The rows after this place."""
        return Q(created_at__lt=self.created_at) | Q(created_at=self.created_at, id__lt=self.id)


_NOT_OURS = (binascii.Error, ValueError, TypeError, AttributeError)


def _encoded(place: list[Any]) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")


def _decoded(encoded: str) -> Any:
    padded = encoded + "=" * (-len(encoded) % 4)
    return orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))


def _refused() -> InvalidRequest:
    return InvalidRequest(
        "This cursor is not one of ours; ask for the first page again.", param="cursor"
    )


def _aware(stamp: str) -> datetime:
    return utc(datetime.fromisoformat(stamp), param="cursor")
