"""The library of `encoder.cpp` for this processor: one that was built beforehand (`ahead`), else it
is compiled once and kept for this user. None, with the reason logged, where neither can be."""

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

BUILT = Path(__file__).with_name("built")
_SOURCE = Path(__file__).with_name("encoder.cpp")
_SOURCES = (_SOURCE, *sorted(Path(__file__).parent.glob("*.h")))
_FLAGS = ("-O3", "-std=gnu++17", "-fno-math-errno", "-fno-strict-aliasing", "-fPIC", "-shared")
_CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Level:
    """A set of instructions: the compiler's flags, and what Linux calls all that they may use."""

    name: str
    flags: tuple[str, ...]
    needs: frozenset[str]


_AVX2 = frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"})
_AVX512 = _AVX2 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vnni"}
LEVELS = (
    Level("vnni", ("-march=x86-64-v4", "-mavx512vnni"), _AVX512),
    Level("avx2", ("-march=x86-64-v3",), _AVX2),
)
"""The best first."""


def load() -> ctypes.CDLL | None:
    """The best library that this processor can run."""
    level = best_level()
    if level is None:
        log.info("no compiled encoder for this processor: onnxruntime runs it")
        return None
    try:
        built = library_path(level, BUILT)
        return ctypes.CDLL(str(built if built.exists() else compiled(level)))
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:  # or there is no home
        detail = getattr(error, "stderr", "") or error
        log.warning("the encoder cannot be compiled, onnxruntime runs it: %s", detail)
        return None


def best_level() -> Level | None:
    """The first of LEVELS that this processor can run."""
    if platform.machine() not in ("x86_64", "AMD64") or not _CPUINFO.exists():
        return None
    lines = _CPUINFO.read_text().splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "")
    has = set(flags.partition(":")[2].split())
    return next((level for level in LEVELS if level.needs <= has), None)


def library_path(level: Level, folder: Path) -> Path:
    """Where the library of this very source is, or would be."""
    parts = [file.read_bytes() for file in _SOURCES] + [" ".join(_FLAGS + level.flags).encode()]
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    return folder / f"parley-encoder-{level.name}-{digest}.so"


def build(level: Level, library: Path) -> None:
    """Compile beside the final name, then rename: nobody loads half of it.

    Raises:
        OSError, CalledProcessError: there is no compiler, or it cannot.
    """
    compiler = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("clang++")
    if compiler is None:
        raise FileNotFoundError("no C++ compiler found")
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder, library.name)
        command = [compiler, *_FLAGS, *level.flags, str(_SOURCE), "-o", str(made)]
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        made.replace(library)


def compiled(level: Level) -> Path:
    """The library that is kept for this user; it is compiled where there is none.

    Raises:
        OSError, CalledProcessError: as `build`; RuntimeError: this user has no home.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    library = library_path(level, base / "parley")
    if not library.exists():
        library.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        build(level, library)
    return library
