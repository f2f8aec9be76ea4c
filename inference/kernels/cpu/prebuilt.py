"""Kernels that were built beforehand, one library for each set of instructions.

`python -m inference.kernels.cpu.ahead` builds them into `built/` beside this file; `compile.py`
takes one where there is one for this processor and this source, before it looks for a compiler.
"""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("built")
_CPUINFO = Path("/proc/cpuinfo")
_SOURCES = [Path(__file__).with_name("kernels.cpp"), *sorted(Path(__file__).parent.glob("*.h"))]

_AVX2 = frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"})
_VNNI = _AVX2 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vnni"}
_BF16 = _VNNI | {"avx512_bf16"}
_AMX = _BF16 | {"avx512vbmi", "amx_tile", "amx_bf16"}


@dataclass(frozen=True)
class Level:
    """A set of instructions: the compiler's flags, and what Linux calls all that they may use."""

    name: str
    flags: tuple[str, ...]
    needs: frozenset[str]


_V4 = ("-march=x86-64-v4", "-mavx512vnni")
LEVELS = (
    Level("amx", (*_V4, "-mavx512vbmi", "-mavx512bf16", "-mamx-tile", "-mamx-bf16"), _AMX),
    Level("bf16", (*_V4, "-mavx512bf16"), _BF16),
    Level("vnni", _V4, _VNNI),
    Level("avx2", ("-march=x86-64-v3",), _AVX2),
)
"""The best first. A processor with none of them compiles for itself, or uses plain torch."""


def library_path(level: Level, folder: Path = FOLDER) -> Path:
    """Where the library of this very source is, or would be."""
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in _SOURCES)).hexdigest()[:16]
    return folder / f"parley-kernels-{level.name}-{digest}.so"


def find(folder: Path = FOLDER) -> Path | None:
    """The best library that this processor can run; None where none was built."""
    if platform.machine() not in ("x86_64", "AMD64") or not folder.is_dir():
        return None
    has = _instructions()
    for level in LEVELS:
        if level.needs <= has and (built := library_path(level, folder)).exists():
            return built
    return None


def _instructions() -> set[str]:
    if not _CPUINFO.exists():
        return set()
    for line in _CPUINFO.read_text().splitlines():
        if line.startswith("flags"):
            return set(line.partition(":")[2].split())
    return set()
