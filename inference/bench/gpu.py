"""`python -m inference.bench.gpu` (`make bench-gpu`): what the engine makes of a GPU.

A Llama shape of 8 billion weights in bf16, random ones, against what the device can do:
a decode step beside the time that its bytes need, prefill beside the rate of bare matrix
products, our attention beside torch's. Writes JSON. Not run yet: no GPU was at hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.bench.limits import prefill_flops
from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.model.architectures.llama import LLAMA
from inference.model.build import build_decoder
from inference.model.config import ModelConfig
from inference.model.cuda_graphs import GraphedModel, GraphLayout
from inference.model.kv_memory import allocate_caches
from inference.quantization.packed import PackedRows

_BLOCK = 16
_BATCHES = (1, 16, 64)
_CONTEXT = 1024
_PROMPT = 4096
LLAMA_8B = ModelConfig(
    architecture="llama",
    vocab_size=128256,
    hidden_size=4096,
    intermediate_size=14336,
    num_layers=32,
    num_heads=32,
    num_kv_heads=8,
    head_dim=128,
    rms_eps=1e-5,
    max_position=8192,
    tied_embeddings=False,
    eos_token_ids=frozenset(),
)


class RandomWeights:
    """A `WeightReader` that makes small random numbers of the right shape."""

    def __init__(self, config: ModelConfig, device: torch.device) -> None:
        self.architecture = LLAMA
        self.config = config
        self._device = device

    def has(self, name: str) -> bool:
        return ":" not in name and not name.endswith(("attn.q_norm", "attn.k_norm"))

    def read(self, name: str) -> Tensor:
        shape = self._shape(name.rpartition(".")[2] if "." in name else name)
        if len(shape) == 1:
            return torch.ones(shape, device=self._device)
        weight = torch.empty(shape, dtype=torch.bfloat16, device=self._device)
        return weight.normal_(std=0.02)

    def read_packed(self, name: str) -> PackedRows | None:
        return None

    def release(self) -> None:
        """There is no file."""

    def _shape(self, part: str) -> tuple[int, ...]:
        c = self.config
        queries, kv = c.num_heads * c.head_dim, c.num_kv_heads * c.head_dim
        shapes: dict[str, tuple[int, ...]] = {
            "embed": (c.vocab_size, c.hidden_size),
            "lm_head": (c.vocab_size, c.hidden_size),
            "norm": (c.hidden_size,),
            "attn_norm": (c.hidden_size,),
            "mlp_norm": (c.hidden_size,),
            "q": (queries, c.hidden_size),
            "k": (kv, c.hidden_size),
            "v": (kv, c.hidden_size),
            "o": (c.hidden_size, queries),
            "gate": (c.intermediate_size, c.hidden_size),
            "up": (c.intermediate_size, c.hidden_size),
            "down": (c.hidden_size, c.intermediate_size),
        }
        return shapes[part]


def decode_batch(count: int, context: int, device: torch.device) -> Batch:
    """One token each, of sequences of `context` tokens."""
    width = context // _BLOCK
    tables = torch.randperm(count * width, device=device).view(count, width).int()
    return Batch(
        token_ids=torch.zeros(count, dtype=torch.long, device=device),
        positions=torch.full((count,), context - 1, device=device),
        slots=tables[:, -1].long() * _BLOCK + _BLOCK - 1,
        decode=DecodeBatch(
            tables, torch.full((count,), context, dtype=torch.int32, device=device), _BLOCK
        ),
        prefill=(),
        logits_rows=torch.arange(count, device=device),
    )


def prompt(length: int, device: torch.device) -> Batch:
    slots = torch.arange(length, device=device)
    chunks = (PrefillChunk(0, length, 0, slots),)
    return Batch(slots % 1000, slots, slots, None, chunks, slots[-1:])


def seconds(action: Callable[[], object], repeats: int = 20) -> float:
    """Median time on the device."""
    times = []
    for _ in range(repeats + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        action()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return median(times[3:])


@torch.inference_mode()
def measure(config: ModelConfig, device: torch.device) -> dict[str, float]:
    figures = _device_limits(device)
    model = build_decoder(RandomWeights(config, device), torch.bfloat16, device)
    slots = max(max(_BATCHES) * _CONTEXT, _PROMPT) + _BLOCK
    caches = allocate_caches(slots, config, config.num_layers, torch.bfloat16, device)
    layout = GraphLayout.up_to(max(_BATCHES), _CONTEXT // _BLOCK, _BLOCK, slots - _BLOCK)
    graphed = GraphedModel(model, layout)
    graphed.record(caches)
    for count in _BATCHES:
        batch = decode_batch(count, _CONTEXT, device)
        took = seconds(partial(_step, graphed, batch, caches))
        least = _bytes_of_step(config, count) / figures["read_gb_per_s"] / 1e9
        figures[f"decode_ms_batch_{count}"] = 1e3 * took
        figures[f"decode_to_bandwidth_batch_{count}"] = took / least
    batch = prompt(_PROMPT, device)
    took = seconds(lambda: model(batch, caches), 5)
    rate = prefill_flops(config, _PROMPT) / took / 1e12
    figures["prefill_tflops"] = rate
    figures["prefill_to_gemm"] = rate / figures["gemm_tflops"]
    figures["attention_to_sdpa"] = _attention_ratio(config, caches[0], device)
    return figures


def _step(model: GraphedModel, batch: Batch, caches: list[LayerCache]) -> Tensor:
    return model.logits(model.hidden(batch, caches), batch.logits_rows)


def _device_limits(device: torch.device) -> dict[str, float]:
    a, b = (torch.randn(8192, 8192, dtype=torch.bfloat16, device=device) for _ in range(2))
    large = torch.zeros(1 << 30, dtype=torch.bfloat16, device=device)
    return {
        "gemm_tflops": 2 * 8192**3 / seconds(lambda: a @ b) / 1e12,
        "read_gb_per_s": large.nbytes / seconds(large.sum) / 1e9,
    }


def _bytes_of_step(config: ModelConfig, count: int) -> float:
    """Weights once (of the embedding only the rows), keys and values of all sequences."""
    weights = prefill_flops(config, 1) / 2 + config.vocab_size * config.hidden_size
    kv = 2 * config.num_layers * config.num_kv_heads * config.head_dim * _CONTEXT * count
    return 2.0 * (weights + kv)


def _attention_ratio(config: ModelConfig, cache: LayerCache, device: torch.device) -> float:
    """Torch's fastest attention's time to ours, a prompt's; above 1 ours is faster."""
    from inference.kernels.gpu.prefill_attention import prefill_attention

    shape = (_PROMPT, config.num_heads, config.head_dim)
    queries = torch.randn(shape, dtype=torch.bfloat16, device=device)
    slots = torch.arange(_PROMPT, device=device)
    ours = seconds(lambda: prefill_attention(queries, cache, slots, 0))
    keys, values = (x[slots].transpose(0, 1)[None] for x in (cache.keys, cache.values))
    heads = queries.transpose(0, 1)[None]
    theirs = seconds(
        lambda: F.scaled_dot_product_attention(heads, keys, values, is_causal=True, enable_gqa=True)
    )
    return theirs / ours


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.gpu", description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("var/bench-gpu.json"))
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.stderr.write("torch sees no GPU here\n")
        return 2
    figures = measure(LLAMA_8B, torch.device("cuda"))
    figures_text = json.dumps(
        {"device": torch.cuda.get_device_name(), "torch": torch.__version__, **figures}, indent=1
    )
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(figures_text)
    sys.stdout.write(figures_text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
