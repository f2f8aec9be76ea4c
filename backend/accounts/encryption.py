"""Secrets of an account at rest, under the keyring: seeds of second factors, texts of mails.

A dump of the database alone opens no account. `manage.py rotate-keys` moves both to a new version.
"""

from dataclasses import replace
from typing import Any

from backend.platform.encryption import decrypt, encrypt, version_of
from backend.platform.keys import Purpose
from backend.platform.reencryption import KeyedColumn, encrypted_column

# allauth asks for a seed to be encrypted before its row exists, and names no user.
_SEED = ("second-factor",)
_SEED_FIELDS = ("secret", "seed")


def seed_encrypt(seed: str) -> str:
    return encrypt(seed, purpose=Purpose.ACCOUNT_SECRET, context=_SEED)


def seed_decrypt(stored: str) -> str:
    """The seed again. Raises Unreadable."""
    return decrypt(stored, purpose=Purpose.ACCOUNT_SECRET, context=_SEED)


def mail_encrypt(text: str, *, to: str, kind: str) -> str:
    return encrypt(text, purpose=Purpose.MAIL_TEXT, context=(to, kind))


def mail_decrypt(stored: str, *, to: str, kind: str) -> str:
    """The text again. Raises Unreadable."""
    return decrypt(stored, purpose=Purpose.MAIL_TEXT, context=(to, kind))


def _seed_version(data: dict[str, Any]) -> int | None:
    """None of a passkey, which holds no secret of ours."""
    return next((version_of(data[name]) for name in _SEED_FIELDS if name in data), None)


def _seed_renewed(authenticator: Any) -> dict[str, Any]:
    data: dict[str, Any] = authenticator.data
    seeds = {name: seed_encrypt(seed_decrypt(data[name])) for name in _SEED_FIELDS if name in data}
    return {**data, **seeds}


SEEDS = KeyedColumn(
    label="second factors",
    model="mfa.Authenticator",
    field="data",
    version=_seed_version,
    renewed=_seed_renewed,
)
_MAIL = encrypted_column(
    label="texts of mails",
    model="accounts.Mail",
    field="ciphertext",
    purpose=Purpose.MAIL_TEXT,
    context=("to", "kind"),
)
# A mail that was sent has no text any more.
MAILS = replace(
    _MAIL,
    version=lambda stored: version_of(stored) if stored.startswith("v") else None,
    renewed=lambda mail: _MAIL.renewed(mail) if mail.ciphertext else "",
)
