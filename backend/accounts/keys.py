"""The secret of an API key: its format, its hash, and what of it may be shown.

`sk-parley-` and 32 random bytes in base62. 256 random bits need no slow hash: nobody can try
them out, so a plain SHA-256 keeps a stolen table useless and a lookup one index probe.
"""

import hashlib
import re
import secrets
import string

SECRET_PREFIX = "sk-parley-"  # noqa: S105 (the public start of every key)
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_BYTES = 32
_BODY_LENGTH = 43  # digits of 2**256 - 1 in base 62
_SHOWN = len(SECRET_PREFIX) + 6

_WELL_FORMED = re.compile(rf"{SECRET_PREFIX}[0-9A-Za-z]{{{_BODY_LENGTH}}}")


def secret_generate() -> str:
    return secret_from(secrets.token_bytes(_RANDOM_BYTES))


def secret_from(entropy: bytes) -> str:
    """The secret of 32 given bytes: always the same length, leading zeros kept."""
    number = int.from_bytes(entropy, "big")
    digits = []
    for _ in range(_BODY_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return SECRET_PREFIX + "".join(reversed(digits))


def secret_is_well_formed(secret: str) -> bool:
    return _WELL_FORMED.fullmatch(secret) is not None


def secret_hash(secret: str) -> str:
    """64 hex digits, as APIKey.sha256 stores them."""
    return hashlib.sha256(secret.encode()).hexdigest()


def secret_shown(secret: str) -> str:
    """The start that tells a person's keys apart; 6 of 43 random digits give nothing away."""
    return secret[:_SHOWN]
