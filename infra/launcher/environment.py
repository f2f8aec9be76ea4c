"""The environment of all processes, and how other commands find that of a running product.

Keys are made once for each clone and kept in `var/keys` (0600). While the product
runs, `var/run/environment.json` (0600) holds its variables and the launcher's pid, so that
`manage.py shell` in a second terminal talks to the same database.
"""

import json
import os
import secrets
from collections.abc import Mapping, MutableMapping
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from backend.platform.key_files import keys_file_ensure
from infra.launcher.errors import LaunchError
from infra.launcher.procfile import ROOT

_RUNNING = Path("run") / "environment.json"
_KEYS = "keys"
_OUTBOX_TOKEN = "PARLEY_OUTBOX_TOKEN"  # noqa: S105 (the name of a variable)
_ENGINE_KEY = "PARLEY_ENGINE_API_KEY"
_KEY_VARIABLES = ("PARLEY_KEYS", "PARLEY_KEYS_FILE", "PARLEY_SECRET_KEY")


@dataclass(frozen=True, slots=True)
class _Running:
    """A launcher (its start time tells it from a later process with its pid), its variables."""

    pid: int
    started: float
    variables: dict[str, str]


def var_directory(environment: Mapping[str, str]) -> Path:
    """Where everything of this clone is kept that is not in the repository."""
    return Path(environment.get("PARLEY_VAR") or ROOT / "var").resolve()


def generated_secrets(var: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with secrets of this clone, each made when it is first missing; no keys
    where `environment` configures them.

    `secrets.json` holds PARLEY_SECRET_KEY in clones of earlier releases: key version 0, until
    `manage.py rotate-keys --drop 0` says that it may be taken out.
    """
    path = var / "secrets.json"
    kept: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    if missing := {_OUTBOX_TOKEN, _ENGINE_KEY} - kept.keys():
        kept |= {name: secrets.token_urlsafe(24) for name in missing}
        _write_private(path, kept)
    if not any(environment.get(name) for name in _KEY_VARIABLES):
        keys_file_ensure(var / _KEYS)
        kept["PARLEY_KEYS_FILE"] = str(var / _KEYS)
    return kept


def publish(var: Path, variables: Mapping[str, str]) -> None:
    """Let other commands find the running product.

    Raises:
        LaunchError: it runs already, from this clone.
    """
    running = _read_running(var)
    if running is not None and running.pid != os.getpid():
        raise LaunchError(
            f"Parley is already running from this folder (process {running.pid}): stop it first."
        )
    me = psutil.Process()
    record = _Running(me.pid, me.create_time(), dict(variables))
    _write_private(var / _RUNNING, asdict(record))


def withdraw(var: Path) -> None:
    """The product of this process no longer runs."""
    running = _read_running(var)
    if running is not None and running.pid == os.getpid():
        (var / _RUNNING).unlink(missing_ok=True)


def adopt_running(environment: MutableMapping[str, str]) -> None:
    """Fill in what `environment` lacks from the product that runs from this clone, if one does.

    Variables that are set are kept: a configured URL is never shadowed.
    """
    var = var_directory(environment)
    running = _read_running(var)
    if running is not None:
        for name, value in running.variables.items():
            environment.setdefault(name, value)
    if (var / _KEYS).exists() or (var / "secrets.json").exists():
        for name, value in generated_secrets(var, environment).items():
            environment.setdefault(name, value)


def _read_running(var: Path) -> _Running | None:
    """What the launcher that still lives has published, if one does."""
    try:
        record = json.loads((var / _RUNNING).read_text())
        running = _Running(record["pid"], record["started"], record["variables"])
        process = psutil.Process(running.pid)
        return running if abs(process.create_time() - running.started) < 0.05 else None
    except (OSError, ValueError, KeyError, psutil.NoSuchProcess):
        return None


def _write_private(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file, indent=1)
    temporary.rename(path)
