"""How the product calls its own API in a user's name: by a signed token that lives a minute.

Such a call is limited, checked and metered like any other. The token names an API key row of the
user that has no secret: usage is counted by it, and an administrator who revokes it stops these
calls for the user. Nothing stores the token; an old one opens nothing.
"""

from dataclasses import dataclass
from uuid import UUID

from django.core import signing

from backend.accounts.keys import secret_hash
from backend.accounts.models import APIKey, Project
from backend.accounts.scopes import Scope
from backend.platform.encryption import token_read, token_sign
from backend.platform.keys import Purpose

PREFIX = "parley-internal-"
LIFETIME_S = 60
"""From the making of a call to its admission: clocks of two machines may be some seconds apart."""


@dataclass(frozen=True, slots=True)
class InternalCall:
    """What a token names; `project_id`: None for the default project."""

    key_id: UUID
    project_id: UUID | None


def internal_token(*, organization_id: UUID, user_id: UUID, project_id: UUID | None = None) -> str:
    """A bearer token for one call of `/v1` in the user's name, good for LIFETIME_S.

    Args:
        project_id: whose rules hold for the call, and whose usage it is; None for the default one.
    """
    key = _row(organization_id, user_id)
    named = [str(key.pk)] if project_id is None else [str(key.pk), str(project_id)]
    return PREFIX + token_sign("/".join(named), purpose=Purpose.INTERNAL_CALL)


def internal_call(bearer: str) -> InternalCall | None:
    """What a token names; None for one that is too old, forged, or no token."""
    try:
        value = token_read(
            bearer.removeprefix(PREFIX), purpose=Purpose.INTERNAL_CALL, max_age_s=LIFETIME_S
        )
        key_id, _, project_id = value.partition("/")
        return InternalCall(UUID(key_id), UUID(project_id) if project_id else None)
    except (signing.BadSignature, ValueError, TypeError, AttributeError):
        return None


def _row(organization_id: UUID, user_id: UUID) -> APIKey:
    """The oldest, which may be revoked: that is an administrator's wish, not ours to undo."""
    rows = APIKey.objects.filter(
        organization_id=organization_id, created_by_id=user_id, is_internal=True
    )
    found = rows.order_by("created_at", "pk").first()
    if found is not None:
        return found
    key, _ = APIKey.objects.get_or_create(
        # Unique, so that two first calls make one row; no secret has this hash.
        sha256=secret_hash(f"internal:{organization_id}:{user_id}"),
        defaults={
            "organization_id": organization_id,
            "project": Project.objects.get(organization_id=organization_id, is_default=True),
            "created_by_id": user_id,
            "name": "Automatic titles",
            "prefix": "internal",
            "scopes": [Scope.INFERENCE.value],
            "is_internal": True,
        },
    )
    return key
