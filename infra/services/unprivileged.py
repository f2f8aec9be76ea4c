"""PostgreSQL refuses to run as root. This finds it an account and places that account can reach.

Nothing that exists is opened up for it: where a parent folder keeps others out (as /root
does), data and programs go to a folder of their own under /var/lib/parley instead.
"""

import hashlib
import os
import pwd
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from infra.services.errors import ServiceError

STATE_ROOT = Path("/var/lib/parley")


@dataclass(frozen=True, slots=True)
class Account:
    """A user that is not root."""

    uid: int
    gid: int


def unprivileged_account() -> Account | None:
    """The account to drop to: None when we are not root and therefore stay who we are."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise ServiceError(
            "PostgreSQL refuses to run as root and there is no user `nobody` to run it as: "
            "start Parley as an ordinary user, or set DATABASE_URL."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid)


def can_traverse(path: Path, account: Account) -> bool:
    """Whether `account` may walk down to `path` through every parent folder; they must exist."""
    for folder in path.absolute().parents:
        info = folder.stat()
        if info.st_uid == account.uid:
            allowed = info.st_mode & stat.S_IXUSR
        elif info.st_gid == account.gid:
            allowed = info.st_mode & stat.S_IXGRP
        else:
            allowed = info.st_mode & stat.S_IXOTH
        if not allowed:
            return False
    return True


def reachable_data_dir(wanted: Path, account: Account) -> Path:
    """`wanted`, or where the account cannot get there its stand-in under `STATE_ROOT`."""
    if can_traverse(wanted, account):
        return wanted
    digest = hashlib.sha256(str(wanted.absolute()).encode()).hexdigest()[:16]
    return _state_root() / f"data-{digest}"


def reachable_program_tree(tree: Path, account: Account, *, version: str) -> Path:
    """`tree`, or a copy of it that the account can reach (41 MB, made once for each version)."""
    if can_traverse(tree / "bin", account):
        return tree
    copy = _state_root() / f"postgresql-{version}"
    if not copy.exists():
        # Copied aside and renamed, so that a half copy is never taken for a whole one.
        unfinished = copy.with_name(f"{copy.name}.{os.getpid()}")
        shutil.copytree(tree, unfinished, symlinks=True)
        try:
            unfinished.rename(copy)
        except OSError:  # another launcher was faster
            shutil.rmtree(unfinished)
    return copy


def give_directory(path: Path, account: Account | None) -> None:
    """Make `path` a directory only `account` (or we, when None) may enter."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
    if account is not None:
        os.chown(path, account.uid, account.gid)


def _state_root() -> Path:
    STATE_ROOT.mkdir(mode=0o755, parents=True, exist_ok=True)
    STATE_ROOT.chmod(0o755)
    return STATE_ROOT
