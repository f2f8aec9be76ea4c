"""Kept keys and values are encrypted with a key of the tenant they belong to.

The key is derived from the operator's by the request's cache salt (HKDF, RFC 5869), which names the
organization: no mistake in a name lets one tenant's groups be read for another. AES-256-GCM with a
random nonce of 96 bits; the group's name, and which model it is of, are authenticated along.
"""

from __future__ import annotations

import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from inference.errors import ModelLoadError

_NONCE_BYTES = 12
_MIN_KEY = 32


class WrongKeyError(Exception):
    """It was sealed with another key, for another name or salt, or changed since."""


class KVCipher:
    """
    Args:
        key: the operator's, a text of at least 32 characters.
        model: what the blocks are of: bytes of another model are not opened.
    """

    def __init__(self, key: str, model: str) -> None:
        """Raises ModelLoadError: the key is too short."""
        if len(key) < _MIN_KEY:
            raise ModelLoadError(
                f"the key for kept keys and values needs {_MIN_KEY} characters, not {len(key)}:"
                " set PARLEY_KV_STORE_KEY"
            )
        self._key = key.encode()
        self._model = model.encode()
        self._of_salt = lru_cache(maxsize=4096)(self._derived)

    def sealed(self, data: bytes, name: str, salt: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._of_salt(salt).encrypt(nonce, data, self._about(name))

    def opened(self, sealed: bytes, name: str, salt: str) -> bytes:
        """Raises WrongKeyError."""
        nonce, encrypted = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return self._of_salt(salt).decrypt(nonce, encrypted, self._about(name))
        except (InvalidTag, ValueError) as error:
            raise WrongKeyError(f"group {name} does not open with its tenant's key") from error

    def _about(self, name: str) -> bytes:
        return self._model + b"\n" + name.encode()

    def _derived(self, salt: str) -> AESGCM:
        info = b"parley.kv.1\n" + salt.encode()
        return AESGCM(HKDF(SHA256(), 32, salt=None, info=info).derive(self._key))
