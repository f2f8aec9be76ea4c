"""Signing secrets at rest: encrypted for their organization and endpoint, so that a dump of the
database signs nothing, and a secret that is copied to another endpoint is refused."""

import secrets
from dataclasses import replace
from typing import Any
from uuid import UUID

from backend.platform.encryption import Unreadable, decrypt, encrypt
from backend.platform.keys import Purpose
from backend.platform.reencryption import encrypted_column

PREFIX = "whsec_"


class SecretUnreadable(Unreadable):
    """A stored secret was encrypted under a dropped key, belongs elsewhere, or was changed."""


def secret_generate() -> str:
    return f"{PREFIX}{secrets.token_urlsafe(32)}"


def secret_encrypt(secret: str, *, organization_id: UUID, endpoint_id: UUID) -> str:
    context = (organization_id, endpoint_id)
    return encrypt(secret, purpose=Purpose.WEBHOOK_SECRET, context=context)


def secret_decrypt(stored: str, *, organization_id: UUID, endpoint_id: UUID) -> str:
    """The secret again. Raises SecretUnreadable."""
    if stored.startswith(PREFIX):  # from before secrets were encrypted
        return stored
    context = (organization_id, endpoint_id)
    try:
        return decrypt(stored, purpose=Purpose.WEBHOOK_SECRET, context=context)
    except Unreadable as error:
        raise SecretUnreadable(
            "The signing secret cannot be decrypted: delete this webhook and add it again."
        ) from error


def _renewed(endpoint: Any) -> str:
    return secret_encrypt(
        endpoint.secret, organization_id=endpoint.organization_id, endpoint_id=endpoint.pk
    )


COLUMN = replace(
    encrypted_column(
        label="webhook secrets",
        model="billing.WebhookEndpoint",
        field="encrypted_secret",
        purpose=Purpose.WEBHOOK_SECRET,
        context=("organization_id", "pk"),
    ),
    renewed=_renewed,
)
