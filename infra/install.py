"""Packages into this Python's environment, as constraints.txt pins them: `make` calls it.

    python -m infra.install '.[engine,embedded,ocr,dev]'

By uv, which takes a fraction of pip's processor time, from where pip would take them: its indexes,
folders and certificates (`pip config`). By pip itself where uv cannot be had, or does not succeed.
Nothing but the standard library is there when it runs.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from infra.launcher.procfile import ROOT

_UV = "uv"
_CONSTRAINTS = "constraints.txt"
_PIP = (sys.executable, "-m", "pip")
_QUIETLY = ("--disable-pip-version-check", "--progress-bar", "off")
# Of pip's settings, those that say where packages come from. Others are of pip alone.
_OPTIONS = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "constraint": "--constraint",
    "trusted-host": "--allow-insecure-host",
}
_OF_ENVIRONMENT = ":env:."


def main(requirements: Sequence[str]) -> int:
    if by_uv(requirements):
        return 0
    # Modules are compiled when first imported: compiling all takes a minute, and few are used.
    options = (*_QUIETLY, "--no-compile", "--constraint", _CONSTRAINTS)
    return _run([*_PIP, "install", *options, *requirements])


def by_uv(requirements: Sequence[str]) -> bool:
    """Whether uv has installed them."""
    pinned = next(
        line for line in (ROOT / _CONSTRAINTS).read_text().splitlines() if line.startswith("uv==")
    )
    brought = [*_PIP, "install", *_QUIETLY, "--quiet", "--no-deps", pinned]
    if _run(brought) != 0:
        return False
    options, variables = configuration(_pip_config())
    command = [sys.executable, "-m", _UV, "pip", "install", "--python", sys.executable]
    command += ["--no-progress", "--constraint", _CONSTRAINTS, *options, *requirements]
    return _run(command, variables) == 0


def configuration(pip_config: str) -> tuple[list[str], dict[str, str]]:
    """uv's options and variables for what `pip config list` says, where the environment counts more
    than files."""
    settings: dict[str, list[str]] = {}
    for line in sorted(pip_config.splitlines(), key=lambda line: line.startswith(_OF_ENVIRONMENT)):
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = shlex.split(shlex.split(value)[0])
    # As pip does it: the best version of all places, not that of the first which has any.
    options = ["--index-strategy", "unsafe-best-match"]
    for name, option in _OPTIONS.items():
        for value in settings.get(name, ()):
            options += [option, value]
    if settings.get("no-index", ["false"])[0] in {"true", "1", "yes"}:
        options.append("--no-index")
    certificates = settings.get("cert", [])
    return options, {"SSL_CERT_FILE": certificates[0]} if certificates else {}


def _run(command: Sequence[str], variables: Mapping[str, str] = MappingProxyType({})) -> int:
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _pip_config() -> str:
    listed = subprocess.run([*_PIP, "config", "list"], capture_output=True, text=True, check=False)
    return listed.stdout if listed.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
