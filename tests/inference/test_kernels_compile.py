"""Every kernel compiles to machine code for GPUs, without one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")


def test_every_kernel_compiles_for_an_h100(tmp_path):
    """In a process of its own: here Triton's kernels are interpreted."""
    variables = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    run = subprocess.run(
        [sys.executable, "-m", "inference.kernels.gpu.ahead", "--capability", "90"],
        env=variables | {"TRITON_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(run.stdout.splitlines()) == 15
    assert len(list(tmp_path.rglob("*.cubin"))) >= 15
