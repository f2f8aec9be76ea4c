"""Programs of Debian's that some tests need and no wheel has: installed where that is possible."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path


def install_one_of(name: str, packages: Sequence[str]) -> None:
    """On Debian, as root, the first of `packages` that the release has; elsewhere nothing.

    Args:
        name: what people call it.
    """
    if os.geteuid() == 0 and Path("/etc/debian_version").exists():
        print(f"  → install {name} with apt-get", flush=True)
        _apt_get("update")
        any(_apt_get("install", "-y", "--no-install-recommends", one) for one in packages)


def _apt_get(*arguments: str) -> bool:
    """Whether it succeeded."""
    done = subprocess.run(
        ["apt-get", "-qq", *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0
