"""The environment of all processes, and how other commands find that of a running product.

Secrets are made once for each clone and kept in `var/secrets.json` (0600). While the product
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

from infra.launcher.errors import LaunchError
from infra.launcher.procfile import ROOT

_RUNNING = Path("run") / "environment.json"


@dataclass(frozen=True, slots=True)
class _Running:
    """A launcher (its start time tells it from a later process with its pid), its variables."""

    pid: int
    started: float
    variables: dict[str, str]


def var_directory(environment: Mapping[str, str]) -> Path:
    """Where everything of this clone is kept that is not in the repository."""
    return Path(environment.get("PARLEY_VAR") or ROOT / "var").resolve()


def generated_secrets(var: Path) -> dict[str, str]:
    """The variables with secrets of this clone, made on the first call."""
    path = var / "secrets.json"
    if not path.exists():
        _write_private(path, {"PARLEY_SECRET_KEY": secrets.token_urlsafe(50)})
    return dict(json.loads(path.read_text()))


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
    if (var / "secrets.json").exists():
        for name, value in generated_secrets(var).items():
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
