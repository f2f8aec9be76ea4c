"""What this machine could do at most, measured with torch's bare operations."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from inference.model.config import ModelConfig
from inference.model.files.weights import WeightReader

_REPEATS = 9
_LIMIT_S = 3.0
"""A processor without int8 instructions takes minutes for all repeats."""
_SIZE = 2048


@dataclass(frozen=True)
class Machine:
    """Where figures were taken, and its limits (best of several)."""

    processor: str
    cores: int
    gemm_gflops: float
    """float32 products of 1024 x 1024, all cores."""
    int8_gops: float
    """Int8 products of 2048 x 2048, all cores, two operations each: in AMX's tiles where there are
    such, else by VNNI."""
    read_gb_per_s: float
    """Summing 256 MiB, all cores."""

    @classmethod
    def measure(
        cls, clock: Callable[[], float] = time.perf_counter, *, size: int = _SIZE
    ) -> Machine:
        """`size`: of the int8 products; smaller ones take less time and tell less."""
        half = size // 2
        a, b = torch.randn(half, half), torch.randn(half, half)
        rounded = torch.randint(-127, 128, (size, size), dtype=torch.int8)
        large = torch.randn(16 * size * size)
        return cls(
            processor=_processor(),
            cores=os.cpu_count() or 1,
            gemm_gflops=2 * half**3 / _best(lambda: torch.mm(a, b), clock) / 1e9,
            int8_gops=2 * size**3 / _best(lambda: torch._int_mm(rounded, rounded), clock) / 1e9,
            read_gb_per_s=large.numel() * 4 / _best(large.sum, clock) / 1e9,
        )

    def prefill_s(self, model: ModelConfig, tokens: int) -> float:
        """The least time of a prompt: its multiplications at the measured rate in float32."""
        return prefill_flops(model, tokens) / self.gemm_gflops / 1e9

    def int8_prefill_s(self, model: ModelConfig, tokens: int) -> float:
        """The same at the measured rate in int8."""
        return prefill_flops(model, tokens) / self.int8_gops / 1e9

    def decode_s(self, weight_bytes: int) -> float:
        """The least time of a step of one stream: every weight is read once."""
        return weight_bytes / self.read_gb_per_s / 1e9


def file_bytes(model: Path) -> int:
    """Bytes of a model's file, or of its folder's weights."""
    files = model.glob("*.safetensors") if model.is_dir() else (model,)
    return sum(file.stat().st_size for file in files)


def bytes_of_step(model: Path, reader: WeightReader) -> int:
    """What one decode step reads: the weights, but of an embedding that is no output matrix a row.
    Those of a folder are kept as float32, those of a GGUF file as they are."""
    if model.is_dir():
        return file_bytes(model)
    embedding = reader.read_packed("embed")
    untied = embedding is not None and not reader.config.tied_embeddings
    return model.stat().st_size - (embedding.data.nbytes if embedding and untied else 0)


def prefill_flops(model: ModelConfig, tokens: int) -> float:
    """Multiplications and additions of a prompt; last MLP and logits for its last token only."""
    queries = model.num_heads * model.head_dim
    qkv = queries + 2 * model.num_kv_heads * model.head_dim
    experts = model.moe.per_token if model.moe else 1
    mlp = model.hidden_size * 3 * experts * model.intermediate_size
    attention = queries * tokens  # scores and weighted sum, half of each masked
    of_layer = model.hidden_size * (qkv + queries) + attention + mlp
    return 2.0 * (tokens * model.num_layers * of_layer - (tokens - 1) * mlp)


def _best(action: Callable[[], Tensor], clock: Callable[[], float]) -> float:
    """The least seconds of several runs, and of one where that takes long."""
    seconds: list[float] = []
    while len(seconds) < _REPEATS and sum(seconds) < _LIMIT_S:
        began = clock()
        action()
        seconds.append(clock() - began)
    return min(seconds)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
