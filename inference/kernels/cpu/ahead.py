"""`python -m inference.kernels.cpu.ahead [--to FOLDER]`: builds the kernels for every set of
instructions, so that where they run needs no compiler."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from inference.kernels.cpu.compile import build
from inference.kernels.cpu.prebuilt import FOLDER, LEVELS, library_path


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the CPU kernels beforehand.")
    parser.add_argument("--to", type=Path, default=FOLDER)
    parser.add_argument("--only", choices=[level.name for level in LEVELS])
    args = parser.parse_args()
    if platform.machine() not in ("x86_64", "AMD64"):
        print(f"nothing is built beforehand for {platform.machine()}: compiled where it runs")  # noqa: T201
        return 0
    args.to.mkdir(parents=True, exist_ok=True)
    for level in LEVELS:
        if args.only in (None, level.name):
            build(level.flags, library_path(level, args.to))
            print(library_path(level, args.to))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
