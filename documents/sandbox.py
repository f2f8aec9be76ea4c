"""What the child gives up before it reads a file: memory, time, the network, other processes and
the file system.

Each by the kernel, for good. Limits hold on every Unix; seccomp on Linux (x86-64, arm64), where
starting the child fails without it; Landlock (Linux 5.13) and namespaces of its own where the
kernel lets it. docs/decisions/0314 says what holds where.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

OUTPUT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """
    Attributes:
        memory_bytes: of address space.
        cpu_seconds: of processor time, after the libraries are loaded.
        wall_seconds: until whoever waits gives up; on a busy machine it comes first.
    """

    memory_bytes: int
    cpu_seconds: int
    wall_seconds: int


READING = Limits(memory_bytes=1024**3, cpu_seconds=30, wall_seconds=120)
_BY_OCR = Limits(memory_bytes=4 * 1024**3, cpu_seconds=150, wall_seconds=240)
LIMITS = {"scan": _BY_OCR, "images": _BY_OCR}
"""Of tasks that are given more: OCR's models and OpenCV are a gigabyte, most of it mapped."""

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_ALLOW, _ERRNO_EPERM = 0x7FFF0000, 0x00050001
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

# Sockets; processes; other processes' memory; names in the file system; rings that do all of it.
_X86_64 = {
    "architecture": 0xC000003E,
    "denied": (
        *(41, 42, 43, 44, 46, 49, 50, 53, 288, 307),
        *(56, 57, 58, 59, 62, 129, 200, 234, 297, 322, 424, 434, 435, 438),
        *(101, 310, 311, 321, 298),
        *(76, 82, 83, 84, 85, 86, 87, 88, 90, 92, 94, 133, 161, 165, 166, 258, 259, 260, 263, 264),
        *(265, 266, 268, 304, 316, 437, 452),
        *(425, 426, 427, 248, 250, 272, 308),
    ),
    "opens": ((2, 1), (257, 2)),
}
_ARM64 = {
    "architecture": 0xC00000B7,
    "denied": (
        *(198, 199, 200, 201, 202, 203, 206, 211, 242, 269),
        *(220, 221, 129, 130, 131, 138, 240, 281, 424, 434, 435, 438),
        *(117, 270, 271, 280, 241),
        *(33, 34, 35, 36, 37, 38, 39, 40, 45, 51, 53, 54, 265, 276, 437, 452),
        *(425, 426, 427, 217, 219, 97, 268),
    ),
    "opens": ((56, 2),),
}
_MACHINES = {"x86_64": _X86_64, "aarch64": _ARM64}


def enter(limits: Limits) -> None:
    """Raises OSError where this system has a part that must hold, and it does not."""
    _limit(resource.RLIMIT_CPU, int(time.process_time()) + limits.cpu_seconds)
    _limit(resource.RLIMIT_FSIZE, OUTPUT_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    if sys.platform != "linux":
        return
    _limit(resource.RLIMIT_AS, limits.memory_bytes)  # macOS knows it, and does not hold it
    libc = ctypes.CDLL(None, use_errno=True)
    libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)  # refused in many containers: seccomp holds
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")
    _landlock(libc)
    _seccomp(libc)


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))


def _seccomp(libc: ctypes.CDLL) -> None:
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return
    program = _program(machine)
    code = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, filter_, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The system call filter was refused")


def _program(machine: dict[str, object]) -> bytes:
    """Classic BPF over seccomp_data: what is denied fails with EPERM, what opens a file to write
    too, and system calls of another architecture."""

    def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    refuse, allow = step(_RETURN, _ERRNO_EPERM), step(_RETURN, _ALLOW)
    steps = [
        step(_LOAD, _ARCHITECTURE),
        step(_EQUAL, int(str(machine["architecture"])), 1, 0),
        refuse,
        step(_LOAD, _NUMBER),
        step(_AT_LEAST, 0x40000000, 0, 1),  # x32's numbers
        refuse,
    ]
    denied, opens = machine["denied"], machine["opens"]
    assert isinstance(denied, tuple) and isinstance(opens, tuple)
    for number in denied:
        steps += [step(_EQUAL, number, 0, 1), refuse]
    for number, argument in opens:
        steps += [
            step(_EQUAL, number, 0, 4),
            step(_LOAD, _ARGUMENTS + 8 * argument),
            step(_ANY_BIT, _WRITING, 0, 1),
            refuse,
            allow,
        ]
    return b"".join([*steps, allow])


def _landlock(libc: ctypes.CDLL) -> None:
    """From now on only Python's own files are to be read. Does nothing on a kernel without."""
    create, add, restrict = 444, 445, 446
    every_right, read_file, read_dir = (1 << 13) - 1, 1 << 2, 1 << 3
    ruleset = libc.syscall(create, struct.pack("Q", every_right), 8, 0)
    if ruleset < 0:
        return
    for path in {sys.prefix, sys.base_prefix, str(Path(__file__).parent), "/usr", "/lib", "/lib64"}:
        if not Path(path).exists():
            continue
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        libc.syscall(add, ruleset, 1, struct.pack("=Qi", read_file | read_dir, folder), 0)
        os.close(folder)
    if libc.syscall(restrict, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), "Landlock was refused")
    os.close(ruleset)
