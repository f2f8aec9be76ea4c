"""What GPUs tell of themselves is among the engine's metrics, under the names of DCGM's exporter.

The library is one that is compiled here with the types of NVIDIA's header (nvml.c): what is shown
is how it is called and what becomes of its answers, not a driver.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from inference.server.gpus import FAMILIES, GPUs, find_gpus
from inference.server.metrics import Metrics

_SOURCE = Path(__file__).with_name("nvml.c")
_SAMPLE = re.compile(r'^(DCGM_\w+){UUID="(.+?)",gpu="(\d)",modelName="(.+?)"} (\S+)$', re.MULTILINE)


@pytest.fixture(scope="module")
def library(scratch: Path) -> ctypes.CDLL:
    built = scratch / "libnvidia-ml.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", built, _SOURCE], check=True)
    return ctypes.CDLL(str(built))


def samples_of(metrics: Metrics) -> dict[tuple[str, str], float]:
    """By name and GPU."""
    found = _SAMPLE.findall(metrics.render().decode())
    assert {model for _, _, _, model, _ in found} == {"NVIDIA H100 80GB HBM3"}
    assert all(uuid == f"GPU-{number}" for _, uuid, number, _, _ in found)
    return {(name, number): float(value) for name, _, number, _, value in found}


def test_metrics_show_what_each_gpu_tells(library):
    metrics = Metrics("m", GPUs(library))
    samples_of(metrics)
    samples = samples_of(metrics)
    of_first = {name: value for (name, number), value in samples.items() if number == "0"}
    sent = of_first.pop("DCGM_FI_PROF_NVLINK_TX_BYTES")
    assert sent > 0, "a gigabyte since the time before"
    assert of_first == {
        "DCGM_FI_DEV_GPU_UTIL": 87,
        "DCGM_FI_DEV_FB_USED": 64 * 1024,
        "DCGM_FI_DEV_FB_FREE": 16 * 1024,
        "DCGM_FI_DEV_GPU_TEMP": 61,
        "DCGM_FI_DEV_POWER_USAGE": 512.5,
        "DCGM_FI_PROF_PCIE_TX_BYTES": 100 * 1024,
        "DCGM_FI_PROF_PCIE_RX_BYTES": 200 * 1024,
        "DCGM_FI_PROF_NVLINK_RX_BYTES": 0,
    }
    assert {name for name, _ in samples} == set(FAMILIES)


def test_figures_that_a_gpu_does_not_have_are_left_out(library):
    metrics = Metrics("m", GPUs(library))
    samples_of(metrics)
    known = {name for name, number in samples_of(metrics) if number == "1"}
    assert known == {name for name in FAMILIES if "POWER" not in name and "NVLINK" not in name}


@pytest.mark.parametrize("visible", ["1", "GPU-1"])
def test_engine_shows_the_gpus_that_it_may_use(library, visible, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert {number for _, number in samples_of(Metrics("m", GPUs(library)))} == {"1"}


def test_engine_on_a_processor_shows_no_gpu():
    assert find_gpus("cpu") is None
    assert b"DCGM" not in Metrics("m").render()
