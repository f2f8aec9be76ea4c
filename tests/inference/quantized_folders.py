"""Writes matrices as the quantized formats define them, and gives what they stand for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

Written = tuple[dict[str, Tensor], Tensor]
"""The tensors by the ends of their names, and the matrix (out, in) that they stand for."""
Writer = Callable[[Tensor], Written]

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
INT32 = 1 << 32


def as_int32(rows: list[list[int]]) -> Tensor:
    signed = [[word - INT32 if word >= INT32 // 2 else word for word in row] for row in rows]
    return torch.tensor(signed, dtype=torch.int32)


def pack(numbers: Tensor, bits: int, order: tuple[int, ...] | None = None) -> Tensor:
    """Rows of small integers to rows of words, the first in the lowest bits."""
    count = 32 // bits
    order = order or tuple(range(count))
    rows = []
    for row in numbers.tolist():
        row += [0] * (-len(row) % count)
        words = [row[at : at + count] for at in range(0, len(row), count)]
        rows.append([sum(word[order[i]] << (bits * i) for i in range(count)) for word in words])
    return as_int32(rows)


def rounded(
    weight: Tensor, bits: int, size: int, *, symmetric: bool, kind: torch.dtype = torch.float16
) -> tuple[Tensor, Tensor, Tensor]:
    """Integers from 0 (out, in), scales and zeros (out, groups)."""
    top = 2**bits - 1
    grouped = weight.view(len(weight), -1, size)
    if symmetric:
        scales = (grouped.abs().amax(-1) * 2 / top).to(kind).float()
        zeros = torch.full_like(scales, (top + 1) // 2)
    else:
        least, most = grouped.amin(-1), grouped.amax(-1)
        scales = ((most - least) / top).to(kind).float()
        zeros = (-least / scales).round().clamp(0, top)
    numbers = (grouped / scales[..., None]).round() + zeros[..., None]
    return numbers.clamp(0, top).int().view_as(weight), scales.to(kind), zeros.int()


def value(numbers: Tensor, scales: Tensor, zeros: Tensor, group_of: Tensor) -> Tensor:
    return (numbers - zeros[:, group_of]) * scales.float()[:, group_of]


def groups_in_order(columns: int, size: int) -> Tensor:
    return torch.arange(columns) // size


def awq(weight: Tensor, size: int = 128) -> Written:
    numbers, scales, zeros = rounded(weight, 4, size, symmetric=False)
    tensors = {
        "qweight": pack(numbers.T, 4, AWQ_ORDER),
        "qzeros": pack(zeros.T, 4, AWQ_ORDER),
        "scales": scales.T.contiguous(),
    }
    return tensors, value(numbers, scales, zeros, groups_in_order(weight.shape[1], size))


def gptq(bits: int, *, symmetric: bool, version: int, in_order: bool = True) -> Writer:
    def write(weight: Tensor, size: int = 64) -> Written:
        columns = weight.shape[1]
        order = torch.arange(columns) if in_order else torch.randperm(columns)
        numbers, scales, zeros = rounded(weight[:, order], bits, size, symmetric=symmetric)
        back = order.argsort()
        numbers, group_of = numbers[:, back], groups_in_order(columns, size)[back]
        less = zeros - 1 if version == 1 else zeros
        tensors = {
            "qweight": pack(numbers, bits).T.contiguous(),
            "qzeros": pack((less % 2**bits).T, bits),
            "scales": scales.T.contiguous(),
            "g_idx": group_of.int(),
        }
        return tensors, value(numbers, scales, zeros, group_of)

    return write


def packed_ints(bits: int, *, symmetric: bool, by_row: bool = False) -> Writer:
    def write(weight: Tensor) -> Written:
        rows, columns = weight.shape
        size = columns if by_row else 32
        numbers, scales, zeros = rounded(
            weight, bits, size, symmetric=symmetric, kind=torch.bfloat16
        )
        tensors = {
            "weight_packed": pack(numbers, bits),
            "weight_shape": torch.tensor([rows, columns]),
            "weight_scale": scales,
        }
        if not symmetric:
            tensors["weight_zero_point"] = pack(zeros.T, bits).T.contiguous()
        return tensors, value(numbers, scales, zeros, groups_in_order(columns, size))

    return write


def int8_rows(weight: Tensor, *, symmetric: bool = True) -> Written:
    columns = weight.shape[1]
    numbers, scales, zeros = rounded(weight, 8, columns, symmetric=symmetric, kind=torch.bfloat16)
    tensors = {"weight": (numbers - 128).to(torch.int8), "weight_scale": scales}
    if not symmetric:
        tensors["weight_zero_point"] = (zeros - 128).to(torch.int8)
    return tensors, value(numbers, scales, zeros, groups_in_order(columns, columns))


def fp8(by: str, scale: str) -> Writer:
    """`by` matrix, row or block of 128 x 128."""

    def write(weight: Tensor) -> Written:
        rows, columns = weight.shape
        tall, wide = {"matrix": (rows, columns), "row": (1, columns), "block": (128, 128)}[by]
        scales = torch.empty(-(-rows // tall), -(-columns // wide))
        numbers, stands_for = torch.empty_like(weight), torch.empty_like(weight)
        for i in range(scales.shape[0]):
            for j in range(scales.shape[1]):
                part = slice(i * tall, (i + 1) * tall), slice(j * wide, (j + 1) * wide)
                scales[i, j] = weight[part].abs().max() / 448
                numbers[part] = (weight[part] / scales[i, j]).to(torch.float8_e4m3fn).float()
                stands_for[part] = numbers[part] * scales[i, j]
        given = scales.view(()) if by == "matrix" else scales
        return {"weight": numbers.to(torch.float8_e4m3fn), scale: given}, stands_for

    return write


def is_matrix(name: str) -> bool:
    return name.endswith("_proj.weight")


def quantize_folder(folder: Path, model, write: Writer, config: dict) -> None:
    """Replace the linear layers in the folder, and give the model what they stand for."""
    file = folder / "model.safetensors"
    tensors = load_file(file)
    state = model.state_dict()
    for name in filter(is_matrix, list(tensors)):
        made, stands_for = write(tensors.pop(name))
        base = name.removesuffix("weight")
        tensors |= {base + end: tensor.contiguous() for end, tensor in made.items()}
        state[name].copy_(stands_for)
    save_file(tensors, file, metadata={"format": "pt"})
    at = folder / "config.json"
    at.write_text(json.dumps(json.loads(at.read_text()) | {"quantization_config": config}))
