"""The Procfile: which processes the product has, and how each is started."""

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def read(path: Path = ROOT / "Procfile") -> dict[str, str]:
    """Each process's name and command line, in the order of the file."""
    commands = {}
    for line in path.read_text().splitlines():
        name, separator, command = line.partition(":")
        if separator and not line.startswith("#"):
            commands[name.strip()] = command.strip()
    return commands


def argv(command: str) -> list[str]:
    """How to run a command line of the Procfile.

    The shell fills in variables and is then replaced by the command, so that the process that
    is started is the one that is named, and a signal to it reaches it.
    """
    return ["/bin/sh", "-c", f"exec {command}"]


def with_our_python(environment: Mapping[str, str], python: Path) -> dict[str, str]:
    """`environment` with `python` and the tools beside it first in the PATH."""
    return {**environment, "PATH": f"{python.parent}:{environment.get('PATH', '/usr/bin:/bin')}"}
