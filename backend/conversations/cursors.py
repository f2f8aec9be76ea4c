"""The opaque cursor of the conversation list: the place of the last row shown."""

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson
from django.db.models import Q

from backend.conversations.models import Conversation
from backend.platform.errors import InvalidRequest


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
        place = orjson.dumps([self.pinned, self.updated_at, self.id])
        return base64.urlsafe_b64encode(place).decode().rstrip("=")

    @classmethod
    def decode(cls, encoded: str) -> "Cursor":
        """Raises InvalidRequest for anything that `encode` did not make."""
        try:
            padded = encoded + "=" * (-len(encoded) % 4)
            place = base64.b64decode(padded, altchars=b"-_", validate=True)
            pinned, updated_at, id_ = orjson.loads(place)
            return cls(bool(pinned), _aware(updated_at), UUID(id_))
        except (binascii.Error, ValueError, TypeError, AttributeError) as error:
            raise InvalidRequest(
                "This cursor is not one of ours; ask for the first page again.", param="cursor"
            ) from error

    def following(self) -> Q:
        """The rows after this place."""
        later = Q(updated_at__lt=self.updated_at) | Q(updated_at=self.updated_at, id__lt=self.id)
        if self.pinned:
            return Q(pinned_at=None) | later
        return Q(pinned_at=None) & later


def _aware(stamp: str) -> datetime:
    parsed = datetime.fromisoformat(stamp)
    if parsed.tzinfo is None:
        raise ValueError("a cursor's times have a zone")
    return parsed
