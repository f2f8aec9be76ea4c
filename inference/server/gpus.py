"""What the GPUs of this engine say of themselves, for `/metrics`: load, memory, heat, power, buses.

Read from NVIDIA's management library (NVML), which comes with the driver, when somebody asks for
the metrics. Named as DCGM's exporter names them, so that one dashboard and one set of alerts read
either: of our engines these, of a cluster with the exporter all GPUs, whoever computes there.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from ctypes import byref, c_int64, c_uint, c_uint32, c_ulonglong, c_void_p
from dataclasses import dataclass

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

FAMILIES = {
    "DCGM_FI_DEV_GPU_UTIL": "GPU: part of the time that a kernel ran, in percent",
    "DCGM_FI_DEV_FB_USED": "GPU: memory in use, in MiB",
    "DCGM_FI_DEV_FB_FREE": "GPU: memory that is free, in MiB",
    "DCGM_FI_DEV_GPU_TEMP": "GPU: temperature, in degrees Celsius",
    "DCGM_FI_DEV_POWER_USAGE": "GPU: power, in watts",
    "DCGM_FI_PROF_PCIE_TX_BYTES": "GPU: sent over PCIe, in bytes a second",
    "DCGM_FI_PROF_PCIE_RX_BYTES": "GPU: received over PCIe, in bytes a second",
    "DCGM_FI_PROF_NVLINK_TX_BYTES": "GPU: sent over all NVLinks, in bytes a second",
    "DCGM_FI_PROF_NVLINK_RX_BYTES": "GPU: received over all NVLinks, in bytes a second",
}
_LABELS = ("gpu", "UUID", "modelName")
_LIBRARY = "libnvidia-ml.so.1"
_MIB = 1 << 20
_SUCCESS = 0
_PCIE = {"DCGM_FI_PROF_PCIE_TX_BYTES": 0, "DCGM_FI_PROF_PCIE_RX_BYTES": 1}
"""nvmlPcieUtilCounter_t."""
_NVLINK = {"DCGM_FI_PROF_NVLINK_TX_BYTES": 138, "DCGM_FI_PROF_NVLINK_RX_BYTES": 139}
"""NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX and _RX: counters, in KiB."""
_ALL_LINKS = 2**32 - 1


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", c_uint), ("memory", c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (("total", c_ulonglong), ("free", c_ulonglong), ("used", c_ulonglong))


class _FieldValue(ctypes.Structure):
    _fields_ = (
        ("field", c_uint32),
        ("scope", c_uint32),
        ("timestamp", c_int64),
        ("latency_us", c_int64),
        ("value_type", c_uint),
        ("status", c_uint),
        ("value", c_ulonglong),
    )


@dataclass(frozen=True, slots=True)
class _GPU:
    handle: c_void_p
    labels: tuple[str, str, str]


class GPUs(Collector):
    """The GPUs that this process may use. One that has fallen off the bus has no figures more."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """Raises OSError: the library finds no driver."""
        self._nvml = library
        if library.nvmlInit_v2() != _SUCCESS:
            raise OSError("NVML finds no driver")
        self._gpus = list(self._found())
        # Of each counter of NVLink: its value, and when it was read.
        self._counted: dict[tuple[str, str], tuple[int, float]] = {}

    def collect(self) -> Iterator[Metric]:
        """Takes 40 ms a GPU: the traffic of PCIe is counted over 20 ms in each direction."""
        families = {
            name: GaugeMetricFamily(name, text, labels=_LABELS) for name, text in FAMILIES.items()
        }
        for gpu in self._gpus:
            for name, value in self._readings(gpu):
                families[name].add_metric(gpu.labels, value)
        yield from families.values()

    def _found(self) -> Iterator[_GPU]:
        count = c_uint()
        self._nvml.nvmlDeviceGetCount_v2(byref(count))
        # Indices or UUIDs, as CUDA reads them.
        visible = [one for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one]
        for number in range(count.value):
            handle = c_void_p()
            if self._nvml.nvmlDeviceGetHandleByIndex_v2(c_uint(number), byref(handle)) != _SUCCESS:
                continue
            uuid = self._text("nvmlDeviceGetUUID", handle)
            if not visible or str(number) in visible or uuid in visible:
                yield _GPU(handle, (str(number), uuid, self._text("nvmlDeviceGetName", handle)))

    def _text(self, function: str, handle: c_void_p) -> str:
        text = ctypes.create_string_buffer(96)
        getattr(self._nvml, function)(handle, text, c_uint(len(text)))
        return text.value.decode(errors="replace")

    def _readings(self, gpu: _GPU) -> Iterator[tuple[str, float]]:
        """What the GPU tells; models differ in what they can."""
        nvml, number = self._nvml, c_uint()
        load, memory = _Utilization(), _Memory()
        if nvml.nvmlDeviceGetUtilizationRates(gpu.handle, byref(load)) == _SUCCESS:
            yield "DCGM_FI_DEV_GPU_UTIL", load.gpu
        if nvml.nvmlDeviceGetMemoryInfo(gpu.handle, byref(memory)) == _SUCCESS:
            yield "DCGM_FI_DEV_FB_USED", memory.used / _MIB
            yield "DCGM_FI_DEV_FB_FREE", memory.free / _MIB
        if nvml.nvmlDeviceGetTemperature(gpu.handle, c_uint(0), byref(number)) == _SUCCESS:
            yield "DCGM_FI_DEV_GPU_TEMP", number.value
        if nvml.nvmlDeviceGetPowerUsage(gpu.handle, byref(number)) == _SUCCESS:
            yield "DCGM_FI_DEV_POWER_USAGE", number.value / 1000
        for name, counter in _PCIE.items():
            way = c_uint(counter)
            if nvml.nvmlDeviceGetPcieThroughput(gpu.handle, way, byref(number)) == _SUCCESS:
                yield name, number.value * 1024
        yield from self._links(gpu)

    def _links(self, gpu: _GPU) -> Iterator[tuple[str, float]]:
        """Bytes a second since the reading before; none in the first."""
        for name, field in _NVLINK.items():
            value = _FieldValue(field=field, scope=_ALL_LINKS)
            asked = self._nvml.nvmlDeviceGetFieldValues(gpu.handle, 1, byref(value))
            if asked != _SUCCESS or value.status != _SUCCESS:
                continue
            now, key = time.monotonic(), (gpu.labels[1], name)
            before = self._counted.get(key)
            self._counted[key] = (value.value, now)
            if before is not None and value.value >= before[0] and now > before[1]:
                yield name, (value.value - before[0]) * 1024 / (now - before[1])


def find_gpus(device: str) -> GPUs | None:
    """Those of an engine that computes on `device`; None where there are none, or no driver."""
    if device == "cpu":
        return None
    try:
        return GPUs(ctypes.CDLL(_LIBRARY))
    except OSError:
        return None
