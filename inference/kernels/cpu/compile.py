"""Builds kernels.cpp with the machine's compiler and loads it; None where that fails.

The library is cached by what went into it (source, compiler, flags, processor). It is
built without linking OpenMP: the calls resolve to the runtime that torch has loaded, so
both share one pool of threads.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import logging
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import torch  # its OpenMP runtime must be loaded before the kernels are

from inference.kernels.cpu import prebuilt

log = logging.getLogger(__name__)

_SOURCE = Path(__file__).with_name("kernels.cpp")
_LOCK_POLL_S = 0.2
_HEADERS = sorted(Path(__file__).parent.glob("*.h"))
_NATIVE = ("-march=native",)
_FLAGS = (
    *("-O3", "-std=c++17", "-fopenmp", "-fno-math-errno", "-fPIC"),
    # Which products it fused with a sum would differ between copies of one function: `fused` says.
    "-ffp-contract=off",
    # GCC 12 otherwise reads an unpacked Q5_K group from before it was written.
    "-fno-strict-aliasing",
)


def load_kernels() -> ctypes.CDLL | None:
    """The kernels: built beforehand for this processor (`prebuilt.py`) unless `CXX` or `CXXFLAGS`
    ask for others, else compiled now if they never were. `CXXFLAGS` come last: `-march=haswell`
    keeps them from AVX-512. None, with the reason logged, when this machine has no compiler that
    can, or torch's OpenMP is not to be found."""
    if not torch.backends.openmp.is_available():
        log.warning("torch has no OpenMP here: using plain torch operations")
        return None
    chosen = "CXX" in os.environ or "CXXFLAGS" in os.environ
    if not chosen and (loaded := _load_prebuilt()) is not None:
        return loaded
    if (compiler := _compiler()) is None:
        log.warning("no C++ compiler found: using plain torch operations, which are slower")
        return None
    command = [compiler, *_FLAGS, *_NATIVE, *shlex.split(os.environ.get("CXXFLAGS", ""))]
    library = _cache_folder() / f"parley-kernels-{_fingerprint(command)}.so"
    try:
        if not library.exists():
            _compile_once(command, library)
        return ctypes.CDLL(str(library))
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or error
        log.warning("the CPU kernels cannot be built, using plain torch operations: %s", detail)
        return None


def build(flags: Sequence[str], library: Path) -> None:
    """Compile the kernels for the instructions that `flags` name.

    Raises:
        OSError, CalledProcessError: when there is no compiler, or it cannot.
    """
    if (compiler := _compiler()) is None:
        raise FileNotFoundError("no C++ compiler found")
    _compile([compiler, *_FLAGS, *flags], library)


def _load_prebuilt() -> ctypes.CDLL | None:
    if (library := prebuilt.find()) is None:
        return None
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        log.warning("%s cannot be loaded: %s", library, error)
        return None


def _compiler() -> str | None:
    return shutil.which(os.environ.get("CXX", "g++")) or shutil.which("clang++")


def _compile_once(command: list[str], library: Path) -> None:
    """Compile it, unless another process is at it: then wait for that one."""
    with library.with_suffix(".lock").open("w") as lock:
        _take(lock)
        if not library.exists():
            _compile(command, library)


def _take(lock: IO[str]) -> None:
    """Asked again and again: who waits for a minute without a move counts as frozen."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_LOCK_POLL_S)


def _compile(command: list[str], library: Path) -> None:
    """Compile beside the final name, then rename: nobody loads half of it."""
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        thing, built = Path(folder, "kernels.o"), Path(folder, "kernels.so")
        for step in (
            [*command, "-c", str(_SOURCE), "-o", str(thing)],
            [command[0], "-shared", str(thing), "-o", str(built)],
        ):
            subprocess.run(step, check=True, capture_output=True, text=True)  # noqa: S603
        built.replace(library)


def _cache_folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = base / "parley"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _fingerprint(command: list[str]) -> str:
    parts = [file.read_bytes() for file in (_SOURCE, *_HEADERS)]
    parts += [shlex.join(command).encode()]
    parts += [platform.machine().encode(), _processor().encode(), torch.__version__.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _processor() -> str:
    """What `-march=native` depends on."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor()
    lines = info.read_text().splitlines()
    return "".join(line for line in lines[:40] if line.startswith(("model name", "flags")))
