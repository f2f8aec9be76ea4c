"""Signing secrets at rest: encrypted with a key derived from the product's secret key.

As with the texts of `safety.audit`, AES in CBC with an HMAC (Fernet) under a key of its own, so
that a dump of the database alone signs nothing. Keys of `SECRET_KEY_FALLBACKS` still decrypt.
"""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.encoding import force_bytes

PREFIX = "whsec_"


class SecretUnreadable(RuntimeError):
    """A stored secret was encrypted under another secret key, or was tampered with."""


def secret_encrypt(secret: str) -> str:
    return _fernet().encrypt(secret.encode()).decode()


def secret_decrypt(stored: str) -> str:
    """The secret again.

    Raises:
        SecretUnreadable: see the class.
    """
    if stored.startswith(PREFIX):  # written by the release before, while this one was rolled out
        return stored
    try:
        return _fernet().decrypt(stored.encode()).decode()
    except InvalidToken as error:
        raise SecretUnreadable(
            "The signing secret cannot be decrypted: delete this webhook and add it again."
        ) from error


def _fernet() -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derive(force_bytes(key))) for key in keys])


def _derive(secret_key: bytes) -> bytes:
    digest = hashlib.sha256(b"parley.billing.webhook-secret:" + secret_key).digest()
    return base64.urlsafe_b64encode(digest)
