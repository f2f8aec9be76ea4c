"""Kernels that were built beforehand: a machine that has them needs no compiler."""

from __future__ import annotations

import shutil

import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind

from inference.kernels.cpu import prebuilt
from inference.kernels.cpu.compile import build, load_kernels
from inference.kernels.cpu.packed_linear import PackedLinear
from inference.quantization.rounding import round_to_blocks
from tests.inference.conftest import compiled

AVX2 = prebuilt.LEVELS[-1]


@pytest.fixture(
    scope="module",
    params=[
        "once",
        pytest.param(
            "now",
            marks=pytest.mark.nightly(
                beside="tests/inference/test_prebuilt_kernels.py"
                "::test_machine_without_a_compiler_computes_with_the_library_for_its_processor"
            ),
        ),
    ],
)
def folder(request, tmp_path_factory):
    """Of a machine that was given the kernels for AVX2, and no others: by the flags of that level,
    compiled once on this machine and kept, at night anew. At -O3 the compiler takes several times
    as long."""
    if shutil.which("g++") is None or not AVX2.needs <= prebuilt._instructions():
        pytest.skip("needs g++ and AVX2")
    folder = tmp_path_factory.mktemp("built")
    library, flags = prebuilt.library_path(AVX2, folder), (*AVX2.flags, "-O0")
    if request.param == "once":
        shutil.copy(compiled(" ".join(flags))._name, library)
    else:
        build(flags, library)
    return folder


def test_machine_without_a_compiler_computes_with_the_library_for_its_processor(
    folder, monkeypatch
):
    monkeypatch.setattr(prebuilt, "find", lambda found=prebuilt.find: found(folder))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("CXXFLAGS", raising=False)
    kernels = load_kernels()
    assert kernels is not None and kernels.parley_group() == 8
    torch.manual_seed(0)
    weight, x = torch.randn(48, 64), torch.randn(5, 64)
    matrix = PackedLinear(kernels, [round_to_blocks(weight, Kind.Q8_0)], None)
    rows = matrix.rows(torch.arange(48))
    torch.testing.assert_close(matrix(x), x @ rows.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("has", "level"),
    [
        (prebuilt.LEVELS[0].needs, "amx"),
        (prebuilt.LEVELS[1].needs | {"amx_tile"}, "bf16"),
        (prebuilt.LEVELS[2].needs | {"avx512vbmi"}, "vnni"),
        (AVX2.needs | {"avx512f"}, "avx2"),
        (AVX2.needs - {"f16c"}, None),
    ],
)
def test_best_library_that_the_processor_can_run_is_taken(has, level, tmp_path, monkeypatch):
    for each in prebuilt.LEVELS:
        prebuilt.library_path(each, tmp_path).touch()
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor : 0\nflags\t\t: {' '.join(sorted(has))}\n")
    monkeypatch.setattr(prebuilt, "_CPUINFO", cpuinfo)
    monkeypatch.setattr(prebuilt.platform, "machine", lambda: "x86_64")
    wanted = {one.name: prebuilt.library_path(one, tmp_path) for one in prebuilt.LEVELS}
    assert prebuilt.find(tmp_path) == wanted.get(level)


def test_library_of_another_source_is_not_taken(tmp_path):
    (tmp_path / "parley-kernels-avx2-0123456789abcdef.so").touch()
    assert prebuilt.find(tmp_path) is None
