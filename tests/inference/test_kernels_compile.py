"""Every kernel compiles to machine code for GPUs, without one."""

from __future__ import annotations

import os

import pytest

from tests.support.forkserver import fork

pytest.importorskip("triton")


def test_every_kernel_compiles_for_an_h100(tmp_path):
    """In a process of its own: here Triton's kernels are interpreted."""
    variables = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    variables |= {"TRITON_CACHE_DIR": str(tmp_path)}
    command = ("python", "-m", "inference.kernels.gpu.ahead", "--capability", "90")
    said = tmp_path / "said.txt"
    with said.open("wb") as output:
        run = fork(command, environment=variables, output=output, kind="engine")
    assert run.wait() == 0, said.read_text()
    assert len(said.read_text().splitlines()) == 15
    assert len(list(tmp_path.rglob("*.cubin"))) >= 15
