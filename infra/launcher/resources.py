"""What this machine has left for a model, as far as we may use it."""

import re
import shutil
from pathlib import Path

import psutil

from infra.launcher.errors import LaunchError

_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Bytes that can be had without swapping: the machine's, or what is left of the limit that a
    container has (cgroup version 2, then 1), whichever is less."""
    return min([psutil.virtual_memory().available, *_left_of_limits()])


def free_disk(directory: Path) -> int:
    """Bytes that can be written below `directory`."""
    return shutil.disk_usage(directory).free


def _left_of_limits() -> list[int]:
    left = []
    for limit, used, statistics, file_cache in (
        ("memory.max", "memory.current", "memory.stat", "inactive_file"),
        (
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
            "memory/memory.stat",
            "total_inactive_file",
        ),
    ):
        try:
            most = int((_CGROUP / limit).read_text())  # "max" is no limit, and no number
            now = int((_CGROUP / used).read_text())
            stat = dict(
                line.split(maxsplit=1) for line in (_CGROUP / statistics).read_text().splitlines()
            )
        except (OSError, ValueError):
            continue
        left.append(max(0, most - now + int(stat.get(file_cache, "0"))))
    return left


def parse_bytes(text: str) -> int:
    """ "6 GB", "500MB" or a plain count, in bytes; 0 for "".

    Raises:
        LaunchError: it is none of these.
    """
    if not text:
        return 0
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(MB|GB|)", text.strip(), re.IGNORECASE)
    if found is None:
        raise LaunchError(f"{text!r} is no amount of memory: write it as 6GB or 500MB.")
    return int(float(found[1]) * {"": 1, "MB": 1e6, "GB": 1e9}[found[2].upper()])


def gigabytes(count: int) -> str:
    """A count of bytes as a person reads it."""
    return f"{count / 1e9:.1f} GB"
