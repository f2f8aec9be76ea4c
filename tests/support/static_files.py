"""The static files, collected and compressed once for everything that the tests start.

They lie in pytest's cache, where the next run finds them (tests/support/plugin.py links there). The
process of the tests collects them; each product's `var/static` is a link to the same folder.
"""

import fcntl
from pathlib import Path

from django.conf import STATICFILES_STORAGE_ALIAS, settings
from django.core.files.storage import storages

from backend.api.static_files import StaticFilesStorage
from infra.launcher.prepare import collect_static


def collected_static_files() -> Path:
    """The folder, brought up to date; another run may be doing the same at this moment."""
    folder = Path(settings.STATIC_ROOT).resolve()
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        collect_static(folder)
    _read_names_again()
    return folder


def share_static_files(var: Path) -> None:
    """For a product with its data in `var`: the same files as everybody's."""
    (var / "static").symlink_to(collected_static_files())


def _read_names_again() -> None:
    """This process may have read the names with their hashes before the files were collected."""
    storage = storages[STATICFILES_STORAGE_ALIAS]
    assert isinstance(storage, StaticFilesStorage)
    storage.hashed_files, storage.manifest_hash = storage.load_manifest()
