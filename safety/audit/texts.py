"""Retained texts at rest: encrypted with a key derived from the product's secret key.

AES in CBC with an HMAC (Fernet) under a key of its own, so that a dump of the database alone
reads nothing. Rotating PARLEY_SECRET_KEY makes stored texts unreadable; they expire anyway.
"""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


class TextUnreadable(RuntimeError):
    """A stored text was encrypted under another secret key, or was tampered with."""


def _fernet() -> Fernet:
    key = hashlib.sha256(b"parley.safety.stored-text:" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


def text_encrypt(text: str) -> bytes:
    return _fernet().encrypt(text.encode("utf-8", "surrogatepass"))


def text_decrypt(ciphertext: bytes) -> str:
    """The text again.

    Raises:
        TextUnreadable: see the class.
    """
    try:
        return _fernet().decrypt(bytes(ciphertext)).decode("utf-8", "surrogatepass")
    except InvalidToken as error:
        raise TextUnreadable("The stored text cannot be decrypted.") from error
