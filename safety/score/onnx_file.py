"""Reads the tensors and the kinds of nodes of an ONNX file, without the package that writes them.

An ONNX file is a protocol buffer: fields one after the other, each with a number and either a whole
number, four or eight bytes, or a run of bytes. Field numbers are those of onnx.proto3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

_GRAPH, _NODES, _TENSORS, _OPERATOR = 7, 1, 5, 4
_SHAPE, _KIND, _FLOATS, _INTEGERS, _NAME, _RAW = 1, 2, 4, 5, 8, 9
_KINDS: dict[int, np.dtype[Any]] = {
    1: np.dtype("<f4"),
    3: np.dtype("i1"),
    7: np.dtype("<i8"),
}


class UnreadableGraph(ValueError):
    """A file is no ONNX, or has what its reader does not know."""


@dataclass(frozen=True)
class Graph:
    """The tensors by name, and of each node what it computes, in the order of the file."""

    tensors: dict[str, np.ndarray]
    operators: list[str]


def read_graph(data: bytes) -> Graph:
    """What is in the ONNX file `data`.

    Raises:
        UnreadableGraph: it is broken, or has a tensor of another kind than floats and integers.
    """
    tensors: dict[str, np.ndarray] = {}
    operators: list[str] = []
    try:
        for field in _fields(_first(memoryview(data), _GRAPH)):
            if field.number == _NODES:
                operators.append(bytes(_first(field.run, _OPERATOR)).decode())
            elif field.number == _TENSORS:
                name, values = _tensor(field.run)
                tensors[name] = values
    except (IndexError, KeyError, StopIteration, ValueError) as error:
        raise UnreadableGraph(f"This ONNX file cannot be read: {error!r}") from error
    return Graph(tensors, operators)


def _tensor(part: memoryview) -> tuple[str, np.ndarray]:
    shape: list[int] = []
    kind, name = 0, ""
    values: np.ndarray | None = None
    for number, value, run in _fields(part):
        if number == _SHAPE:
            shape += _numbers(run) if len(run) else [value]
        elif number == _KIND:
            kind = value
        elif number == _NAME:
            name = bytes(run).decode()
        elif number == _RAW:
            values = np.frombuffer(run, dtype=_KINDS[kind])
        elif number == _FLOATS:
            values = np.frombuffer(run, dtype=_KINDS[1])
        elif number == _INTEGERS:
            values = np.array(_numbers(run), dtype=np.int64).astype(_KINDS[kind])
    if values is None:
        raise ValueError(f"{name} has no values")
    return name, values.reshape(shape)


class _Field(NamedTuple):
    """A field's number, and what it holds: a whole number, or else a run of bytes."""

    number: int
    value: int
    run: memoryview


_NOTHING = memoryview(b"")


def _first(part: memoryview, number: int) -> memoryview:
    """The bytes of the first field with that number."""
    return next(field.run for field in _fields(part) if field.number == number)


def _fields(part: memoryview) -> Iterator[_Field]:
    at = 0
    while at < len(part):
        key, at = _number(part, at)
        kind = key & 7
        if kind == 0:
            value, at = _number(part, at)
            yield _Field(key >> 3, value, _NOTHING)
            continue
        if kind == 2:
            length, at = _number(part, at)
        else:
            length = {1: 8, 5: 4}[kind]
        if at + length > len(part):
            raise ValueError("a field ends after the file")
        yield _Field(key >> 3, 0, part[at : at + length])
        at += length


def _numbers(part: memoryview) -> list[int]:
    found, at = [], 0
    while at < len(part):
        value, at = _number(part, at)
        found.append(value - (1 << 64) if value >> 63 else value)
    return found


def _number(part: memoryview, at: int) -> tuple[int, int]:
    """Seven bits a byte, the lowest first, the eighth bit where more follow; and where it ends."""
    value = shift = 0
    while True:
        byte = part[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
