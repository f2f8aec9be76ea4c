"""What the keys are used for: texts at rest, short-lived tokens, keyed hashes.

A ciphertext is `v<version>.<base64url of nonce and AES-256-GCM>`. Purpose, version and context (the
organization, the row) are authenticated with it: copied to another row, organization or column it
does not decrypt. Nonces are random, so a version may encrypt 2**32 values of one purpose (NIST SP
800-38D, 8.3): rotate long before.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
from collections.abc import Sequence
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core import signing

from backend.platform.keys import LEGACY_VERSION, Keyring, Purpose

_NONCE_BYTES = 12
_CIPHERTEXT = re.compile(r"v(\d{1,9})\.([\w-]+=*)", re.ASCII)

# Releases before versions: Fernet under SHA-256 of these words and PARLEY_SECRET_KEY, no context.
_LEGACY_WORDS = {
    Purpose.STORED_TEXT: b"parley.safety.stored-text:",
    Purpose.WEBHOOK_SECRET: b"parley.billing.webhook-secret:",
}


class Unreadable(RuntimeError):
    """A stored value is of a dropped key version, of another place, or was tampered with."""


def keyring() -> Keyring:
    ring: Keyring = settings.KEYRING
    return ring


def encrypt(text: str, *, purpose: Purpose, context: Sequence[object]) -> str:
    """`text` encrypted for one place; printable ASCII.

    Args:
        context: what identifies the place, such as the ids of organization and row. The same
            values in the same order decrypt.
    """
    version = keyring().writing()
    nonce = os.urandom(_NONCE_BYTES)
    cipher = AESGCM(keyring().key(purpose, version))
    sealed = cipher.encrypt(
        nonce, text.encode("utf-8", "surrogatepass"), _associated(purpose, version, context)
    )
    return f"v{version}.{base64.urlsafe_b64encode(nonce + sealed).decode()}"


def decrypt(stored: str, *, purpose: Purpose, context: Sequence[object]) -> str:
    """The text again. Raises Unreadable."""
    match = _CIPHERTEXT.fullmatch(stored)
    if match is None:
        return _decrypt_legacy(stored, purpose)
    version = int(match[1])
    try:
        sealed = base64.urlsafe_b64decode(match[2])
        if base64.urlsafe_b64encode(sealed).decode() != match[2]:
            raise ValueError("not the one way to write these bytes")
        cipher = AESGCM(keyring().key(purpose, version))
        plain = cipher.decrypt(
            sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _associated(purpose, version, context)
        )
    except KeyError:
        raise Unreadable(f"Key version {version}, which it needs, was dropped.") from None
    except (InvalidTag, ValueError, binascii.Error):
        raise Unreadable("It does not belong here, or was changed.") from None
    return plain.decode("utf-8", "surrogatepass")


def version_of(stored: str) -> int:
    """The version that encrypted a value; 0 for the format of earlier releases."""
    match = _CIPHERTEXT.fullmatch(stored)
    return int(match[1]) if match else LEGACY_VERSION


def token_sign(value: Any, *, purpose: Purpose) -> str:
    """`value` (JSON) and the time, readable by anybody and signed: for what is not stored."""
    return signing.dumps(value, key=keyring().text_key(purpose), salt=f"parley.{purpose}")


def token_read(token: str, *, purpose: Purpose, max_age_s: int) -> Any:
    """The value of a token that is at most `max_age_s` old.

    Raises:
        signing.BadSignature: too old, changed, of another purpose, or of a dropped version.
    """
    ring = keyring()
    return signing.loads(
        token,
        key=ring.text_key(purpose),
        salt=f"parley.{purpose}",
        max_age=max_age_s,
        fallback_keys=[ring.text_key(purpose, version) for version in ring.versions()],
    )


def keyed_hash(value: str, *, purpose: Purpose) -> str:
    """64 hex digits, equal for equal values until the next rotation."""
    key = keyring().key(purpose)
    return hmac.new(key, value.encode(errors="replace"), hashlib.sha256).hexdigest()


def django_keys_follow() -> None:
    """Let Django's own signing (`SECRET_KEY`) use the version that writes at this moment.

    Called where work begins: each request, connection and task. Without a rotation it compares
    two strings.
    """
    ring = keyring()
    current = ring.django_key(ring.writing())
    fallbacks = [ring.django_key(version) for version in ring.versions()]
    if current != settings.SECRET_KEY or fallbacks != settings.SECRET_KEY_FALLBACKS:
        # The fallbacks hold the current key too: between the two lines nothing is unknown.
        settings.SECRET_KEY_FALLBACKS = fallbacks
        settings.SECRET_KEY = current


def _associated(purpose: Purpose, version: int, context: Sequence[object]) -> bytes:
    return json.dumps(["parley", purpose, version, *map(str, context)]).encode()


def _decrypt_legacy(stored: str, purpose: Purpose) -> str:
    secret = keyring().legacy_secret()
    if secret is None:
        raise Unreadable("It is encrypted with PARLEY_SECRET_KEY, which is no longer set.")
    if purpose not in _LEGACY_WORDS:
        raise Unreadable("It is not a ciphertext.")
    digest = hashlib.sha256(_LEGACY_WORDS[purpose] + secret.encode()).digest()
    try:
        plain = Fernet(base64.urlsafe_b64encode(digest)).decrypt(stored.encode())
    except (InvalidToken, ValueError):
        raise Unreadable("It was encrypted with another PARLEY_SECRET_KEY, or changed.") from None
    return plain.decode("utf-8", "surrogatepass")
