"""The static files, collected and compressed once for everything that the tests start.

They lie in pytest's cache, where the next run finds them (tests/support/plugin.py links there). The
process of the tests collects them; each product's `var/static` is a link to the same folder.
"""

import fcntl
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import STATICFILES_STORAGE_ALIAS, settings
from django.core.files.storage import storages

from backend.api import static_files
from infra.launcher.prepare import collect_static

_Files = dict[str, Any]
_LITTLE: dict[str, Any] = {"_BROTLI_QUALITY": 1, "_BROTLI_QUALITY_OF_LARGE": 2, "_GZIP_LEVEL": 1}


def collected_static_files() -> Path:
    """The folder, brought up to date; another run may be doing the same at this moment."""
    folder = Path(settings.STATIC_ROOT).resolve()
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # They cross no network.
        with patch.multiple(static_files, **_LITTLE):
            collect_static(folder)
    _read_names_again()
    return folder


def share_static_files(var: Path) -> None:
    """For a product with its data in `var`: the same files as everybody's."""
    (var / "static").symlink_to(collected_static_files())


def read_files_once(patched: pytest.MonkeyPatch) -> None:
    """Each client of Django's makes the middleware anew, which looks at all of the files: a fifth
    of a second of processor time. In a process that has many clients, the first one does."""
    read = static_files.StaticFilesMiddleware.add_files_from_manifest
    seen: dict[str, _Files] = {}

    def add_files(middleware: static_files.StaticFilesMiddleware) -> None:
        state = f"{middleware.static_root} {_storage().manifest_hash}"
        if state not in seen:
            read(middleware)
            seen[state] = middleware.files
        middleware.files = dict(seen[state])

    patched.setattr(static_files.StaticFilesMiddleware, "add_files_from_manifest", add_files)


def _read_names_again() -> None:
    """This process may have read the names with their hashes before the files were collected."""
    storage = _storage()
    storage.hashed_files, storage.manifest_hash = storage.load_manifest()


def _storage() -> static_files.StaticFilesStorage:
    storage = storages[STATICFILES_STORAGE_ALIAS]
    assert isinstance(storage, static_files.StaticFilesStorage)
    return storage
