"""Which Python makes the environment: prints those of the named that can, in the order in which
they are to be tried.

    python3 infra/interpreter.py python3 python3.13 /usr/bin/python3

Interpreters differ in how they were compiled: one without a compiler's profiles and link-time
optimization, as pyenv makes it, takes a third longer for the same loop, in every process of the
product and of the tests. So each does a little work, and the first that is not clearly slower than
the quickest comes first. Any Python runs this file, before any package is there.
"""

from __future__ import annotations

import subprocess
import sys

# What two runs of one interpreter differ by on a busy machine is less.
CLEARLY_SLOWER = 1.15
# Attributes, calls, texts, dictionaries: what our processes do all day. The least of some turns is
# what no other process has disturbed. `ensurepip` is a package of its own on Debian.
_WORK = """
import ensurepip, sys, time, venv
if not (3, 11) <= sys.version_info < (3, 14):
    sys.exit("unsupported version")
class Point:
    def __init__(self, x): self.x = x
    def moved(self, by): return Point(self.x + by)
def work():
    began = time.process_time()
    names = {}
    for number in range(30000):
        names[number % 1000] = str(Point(number).moved(1).x)
    sorted(names.items(), key=lambda item: item[1])
    return time.process_time() - began
print(min(work() for _ in range(12)))
"""


def seconds(python: str) -> float | None:
    """What the work takes `python`; None when it cannot make our environment."""
    try:
        done = subprocess.run(
            [python, "-c", _WORK],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return float(done.stdout) if done.returncode == 0 else None


def in_order(taken: dict[str, float]) -> list[str]:
    """The Pythons whose work took so many seconds, as they were named: those that are not clearly
    slower than the quickest, then the others."""
    limit = min(taken.values(), default=0.0) * CLEARLY_SLOWER
    return sorted(taken, key=lambda python: taken[python] > limit)


def main(pythons: list[str]) -> int:
    taken = {}
    for python in pythons:
        measured = seconds(python)
        if measured is not None:
            taken[python] = measured
    print(*in_order(taken), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
