"""A rotation as a whole: a new version, everything moved to it, an old one taken out.

`manage.py rotate-keys` is its command line; docs/security.md describes the order of steps.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings

from backend.platform import key_files
from backend.platform.encryption import django_keys_follow, keyring
from backend.platform.keys import LEGACY_VERSION, KeyringError, versions_named
from backend.platform.reencryption import BATCH, keyed_columns, renew, versions_in_use

ACTIVATION_S = 30
"""From a version's entry in the file until it writes; every process has read the file by then."""

PrintLine = Callable[[str], None]


class RotationError(RuntimeError):
    """It cannot be done, or must not; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Use:
    """What still needs a version: labels with counts, and until when links are signed by it."""

    values: dict[str, int]
    links_until: float

    def reasons(self, *, links: bool = True) -> list[str]:
        found = [f"{count:,} {label}" for label, count in self.values.items() if count]
        if links and self.links_until > time.time():
            found.append(f"links in mails, until {_at(self.links_until)}")
        return found


def version_add(report: PrintLine, *, after_s: float = ACTIVATION_S) -> None:
    """Add a version to the file and wait until it writes. Raises RotationError."""
    file = keyring().file
    if file is None:
        entry = f"{max(keyring().versions()) + 1}:{key_files.new_secret()}@{int(time.time()) + 600}"
        raise RotationError(
            "The keys stand in PARLEY_KEYS, which this command cannot change. Add this entry there"
            f" and restart every process within ten minutes: {entry}\n"
            "Then run `manage.py rotate-keys --no-new`, after the time that it ends with."
        )
    try:
        added = key_files.key_add(file, writes_from=int(time.time() + after_s + 0.999))
    except OSError as error:
        raise RotationError(
            f"{file} cannot be written ({error.strerror}). Where it is a mounted secret, add a line"
            f" to its source: {max(keyring().versions()) + 1}:SECRET@UNIX_TIME, then run"
            " `manage.py rotate-keys --no-new`."
        ) from error
    report(f"Version {added.version} is listed and writes from {_at(added.writes_from)}.")
    while keyring().writing() < added.version:
        time.sleep(0.1)


def everything_renew(report: PrintLine, *, batch: int = BATCH) -> bool:
    """Move every stored value to the version that writes; whether every value could be read."""
    django_keys_follow()
    version, readable = keyring().writing(), True
    for column in keyed_columns():
        done = renew(column, batch=batch)
        report(f"{column.label}: {done.replaced:,} moved to version {version}.")
        if done.unreadable:
            readable = False
            report(f"{column.label}: {done.unreadable:,} that no listed version reads, left alone.")
    return readable


def report_droppable(report: PrintLine) -> None:
    """Say of each version that does not write whether and when it can be dropped."""
    ring = keyring()
    for version in sorted(ring.versions()):
        if version >= ring.writing():
            continue
        needed = use_of(version).reasons()
        report(
            f"Version {version} is still needed by {', '.join(needed)}."
            if needed
            else f"Version {version} is not needed: `manage.py rotate-keys --drop {version}`."
        )


def version_drop(version: int, report: PrintLine, *, links: bool = True) -> None:
    """Take `version` out for good, or say how.

    Args:
        links: whether links that are signed by it keep it; False ends them (a leaked key).
    Raises:
        RotationError: it is unknown, writes, is about to write, or is needed.
    """
    ring = keyring()
    if version not in ring.versions():
        raise RotationError(f"There is no key version {version}.")
    if version >= ring.writing():
        raise RotationError(
            f"Key version {version} writes; `manage.py rotate-keys` adds one that takes over."
        )
    needed = use_of(version).reasons(links=links)
    if needed:
        raise RotationError(
            f"Key version {version} is still needed by {', '.join(needed)}:"
            " `manage.py rotate-keys --no-new` moves what is stored to the version that writes."
        )
    if version == LEGACY_VERSION:
        report("Version 0 is PARLEY_SECRET_KEY and not needed: unset it, and restart everything.")
        return
    if ring.file is None:
        report(f"Version {version} is not needed: take its entry out of PARLEY_KEYS, and restart.")
        return
    try:
        key_files.key_remove(ring.file, version)
    except (OSError, KeyringError) as error:
        raise RotationError(f"{ring.file} was not changed: {error}") from error
    report(f"Version {version} is dropped. Backups from before need it: keep it beside them.")


def use_of(version: int) -> Use:
    """What still needs `version`. Reads every keyed column whole."""
    keys = keyring().versions()
    successors = [keys[later].writes_from for later in keys if later > version]
    taken_over = min(successors, default=0)
    return Use(
        values={column.label: versions_in_use(column)[version] for column in keyed_columns()},
        links_until=taken_over + settings.PASSWORD_RESET_TIMEOUT if taken_over else 0,
    )


def known_versions() -> str:
    ring = keyring()
    return f"Versions {versions_named(ring.versions())} are listed; {ring.writing()} writes."


def _at(unix: float) -> str:
    return f"{datetime.fromtimestamp(unix, UTC):%Y-%m-%d %H:%M:%S} UTC"
