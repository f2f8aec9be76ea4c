"""Which Python makes the environment, asked of real ones."""

import subprocess
import sys
from pathlib import Path

from infra import interpreter


def program(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_first_not_clearly_slower_comes_first() -> None:
    taken = {"slow": 0.51, "usual": 0.38, "quickest": 0.37, "slowest": 0.9}
    assert interpreter.in_order(taken) == ["usual", "quickest", "slow", "slowest"]
    assert interpreter.in_order({}) == []


def test_unsuitable_python_is_left_out(tmp_path: Path) -> None:
    shim = program(tmp_path / "shim", "echo 'command not found' >&2; exit 127")
    without_pip = program(tmp_path / "without-pip", f"exec {sys.executable} -S -I -c 'import gone'")
    script = [sys.executable, interpreter.__file__]
    named = [shim, "no-such-python", without_pip, sys.executable]
    done = subprocess.run([*script, *named], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [sys.executable]


def test_slow_python_comes_last(tmp_path: Path) -> None:
    # Prints the processor time of the work, as every Python that is asked does.
    slow = program(tmp_path / "slow", "echo 1000")
    done = subprocess.run(
        [sys.executable, interpreter.__file__, slow, sys.executable],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [sys.executable, slow]
