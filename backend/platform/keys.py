"""The keyring: versioned master secrets, and from each a key for every purpose (HKDF-SHA256).

Nothing uses a master secret itself, so what signs a session decrypts no text, and a key that leaks
from one place opens no other. The newest version that has come into force writes; all that are
listed read. A version may be listed before it writes (`VERSION:SECRET@UNIX_TIME`): every process
knows it by then, whichever was restarted first, and nobody meets a signature from the future.

Entries stand in PARLEY_KEYS, or in the file that PARLEY_KEYS_FILE names, one a line; the file is
read again when it changes. Version 0 is PARLEY_SECRET_KEY, the one secret of earlier releases.
encryption.py uses the keys; key_files.py writes the file. Without Django, for the settings and the
launcher.
"""

import base64
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import structlog
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MIN_SECRET_CHARACTERS = 32
LEGACY_VERSION = 0
_REREAD_S = 1.0  # how old a process's view of the file may be
_ENTRY = re.compile(r"([1-9]\d{0,8}):([^\s@,]+)(?:@(\d{1,12}))?")

log = structlog.get_logger(__name__)


class Purpose(StrEnum):
    """What a key is for. A new use of a secret is a new line here, never a key of another line."""

    SIGNING = "signing"  # Django's own: session rows, links in mails, messages
    STORED_TEXT = "stored-text"
    REQUEST_LOG = "request-log"
    WEBHOOK_SECRET = "webhook-secret"  # noqa: S105 (the name of a purpose)
    ACCOUNT_SECRET = "account-secret"  # noqa: S105 (the name of a purpose)
    MAIL_TEXT = "mail-text"
    SSO_SECRET = "sso-secret"  # noqa: S105 (the name of a purpose)
    SSO_SERVICE_KEY = "sso-service-key"
    TOOL_SECRET = "tool-secret"  # noqa: S105 (the name of a purpose)
    TOOL_CLIENT = "tool-client"
    TOOL_TOKENS = "tool-tokens"
    INTERNAL_CALL = "internal-call"
    DEVICE = "device-cookie"
    CLIENT_ADDRESS = "client-address"
    DATA_DOWNLOAD = "data-download"
    UNTRUSTED_CONTENT = "untrusted-content"
    ANSWER_CACHE = "answer-cache"


class KeyringError(ValueError):
    """The configured keys cannot be used; the message says which entry and why, never a secret."""


@dataclass(frozen=True, slots=True)
class MasterKey:
    """One version. `writes_from` is in Unix seconds; 0 means from the beginning."""

    version: int
    secret: str = field(repr=False)
    writes_from: int = 0

    def __str__(self) -> str:
        """The entry as it is configured."""
        suffix = f"@{self.writes_from}" if self.writes_from else ""
        return f"{self.version}:{self.secret}{suffix}"


def parse_keys(text: str) -> dict[int, MasterKey]:
    """The entries of `text` by version; separated by commas or lines, `#` begins a comment.

    Raises:
        KeyringError: an entry is malformed, too short, or a version comes twice.
    """
    keys: dict[int, MasterKey] = {}
    lines = (line.partition("#")[0] for line in text.splitlines())
    entries = [entry.strip() for line in lines for entry in line.split(",") if entry.strip()]
    for number, entry in enumerate(entries, 1):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise KeyringError(f"Entry {number} of the keys is not VERSION:SECRET[@UNIX_TIME].")
        key = MasterKey(int(match[1]), match[2], int(match[3] or 0))
        if len(key.secret) < MIN_SECRET_CHARACTERS:
            raise KeyringError(
                f"The secret of key version {key.version} has {len(key.secret)} characters;"
                f" it needs {MIN_SECRET_CHARACTERS} random ones."
            )
        if key.version in keys:
            raise KeyringError(f"Key version {key.version} is listed twice.")
        keys[key.version] = key
    return keys


class Keyring:
    """All versions that this installation knows. Safe to use from several threads.

    Args:
        inline: entries, as PARLEY_KEYS holds them.
        file: where entries stand instead.
        secret_key: PARLEY_SECRET_KEY, version 0.
    Raises:
        KeyringError: see `parse_keys`; also both of `inline` and `file`, or no key at all.
    """

    def __init__(self, *, inline: str = "", file: Path | None = None, secret_key: str = "") -> None:
        if inline and file:
            raise KeyringError("PARLEY_KEYS and PARLEY_KEYS_FILE are both set: unset one.")
        self.file = file
        self._inline = inline
        self._legacy = {LEGACY_VERSION: MasterKey(LEGACY_VERSION, secret_key)} if secret_key else {}
        self._seen: tuple[int, ...] | None = None
        self._looked = float("-inf")
        self._keys: Mapping[int, MasterKey] = {}
        self._read()

    def __repr__(self) -> str:
        return f"<Keyring {sorted(self._keys)}>"

    def versions(self) -> Mapping[int, MasterKey]:
        """Every version that reads, also those that do not write yet."""
        if self.file is not None and time.monotonic() - self._looked >= _REREAD_S:
            self._reread()
        return self._keys

    def writing(self, now: float | None = None) -> int:
        """The version that writes: the newest in force, or the oldest where none is yet."""
        keys = self.versions()
        at = time.time() if now is None else now
        in_force = [version for version, key in keys.items() if key.writes_from <= at]
        return max(in_force, default=min(keys))

    def key(self, purpose: Purpose, version: int | None = None) -> bytes:
        """32 bytes for `purpose`, of the version that writes where none is named.

        Raises:
            KeyError: this installation has no such version, or no longer.
        """
        version = self.writing() if version is None else version
        if version not in self.versions() and self.file is not None:
            self._reread()  # another process has just added it
        return _derived(self._keys[version].secret, purpose)

    def text_key(self, purpose: Purpose, version: int | None = None) -> str:
        """`key` as text, for Django's signing."""
        return base64.urlsafe_b64encode(self.key(purpose, version)).decode()

    def django_key(self, version: int) -> str:
        """SECRET_KEY of a version. Version 0 signs as earlier releases did, so that an upgrade
        signs nobody out while both run."""
        if version == LEGACY_VERSION:
            return self._keys[version].secret
        return self.text_key(Purpose.SIGNING, version)

    def legacy_secret(self) -> str | None:
        """PARLEY_SECRET_KEY, for what earlier releases have encrypted; None where it is dropped."""
        return self._legacy[LEGACY_VERSION].secret if self._legacy else None

    def _reread(self) -> None:
        """A file that is missing or wrong at this moment leaves the keys as they were."""
        try:
            self._read()
        except (OSError, KeyringError) as error:
            log.error("keys_file_unreadable", file=str(self.file), error=str(error))

    def _read(self) -> None:
        self._looked = time.monotonic()
        if self.file is None:
            keys = parse_keys(self._inline)
        else:
            found = self.file.stat()
            seen = (found.st_mtime_ns, found.st_ino, found.st_size)
            if seen == self._seen:
                return
            keys = parse_keys(self.file.read_text())
            self._seen = seen
        if not keys and not self._legacy:
            raise KeyringError(
                f"{self.file} holds no key."
                if self.file
                else "PARLEY_KEYS is not set. Start the product with `make run`, which makes keys,"
                " or set it to 1: and 43 random characters of base64."
            )
        self._keys = {**self._legacy, **keys}


def versions_named(versions: Iterable[int]) -> str:
    return ", ".join(f"{version}" for version in sorted(versions))


@lru_cache(maxsize=256)
def _derived(secret: str, purpose: Purpose) -> bytes:
    """Source: RFC 5869; the salt separates these keys from any other use of the secret."""
    hkdf = HKDF(algorithm=SHA256(), length=32, salt=b"parley.keyring.1", info=purpose.encode())
    return hkdf.derive(secret.encode())
