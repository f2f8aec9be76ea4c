"""A family of models is one file (`seesaw.py`) and one line in the registry: nothing else knows it,
and it is loaded from both formats, computed, shared out among ranks and refused as any other."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
import torch.nn.functional as F
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize, quantize
from safetensors.torch import save_file
from torch import Tensor, nn

from inference.errors import ModelLoadError
from inference.kernels.batch import Batch, LayerCache, PrefillChunk
from inference.kernels.cpu.backend import CpuBackend
from inference.model import registry
from inference.model.build import WeightLoader, build_decoder
from inference.model.files.open import open_weights
from inference.parallel.shard import ShardedReader
from inference.quantization.precision import Precision
from tests.inference.conftest import greedy, make_driver
from tests.inference.invented.seesaw import SEESAW
from tests.inference.test_families import PROMPTS, reference_answer

CPU = torch.device("cpu")
VOCAB, DEPTH, HEADS, KV_HEADS, DIM, MAX_LENGTH = 126, 3, 4, 2, 16, 128
SIZES: dict[str, Any] = {
    "width": 72,  # fills no vector of the kernels, which it says that it needs not
    "inner": 128,
    "depth": DEPTH,
    "heads": HEADS,
    "kv_heads": KV_HEADS,
    "head_dim": DIM,
    "longest": MAX_LENGTH,
    "cap": 8.0,
}


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, (HEADS + 2 * KV_HEADS) * DIM)
        self.out = nn.Linear(HEADS * DIM, width)
        self.up = nn.Linear(width, SIZES["inner"])
        self.down = nn.Linear(SIZES["inner"], width)

    def forward(self, x: Tensor) -> Tensor:
        normed, count = self.norm(x), len(x)
        qkv = self.qkv(normed).view(count, -1, DIM).transpose(0, 1)
        queries, keys, values = qkv.split((HEADS, KV_HEADS, KV_HEADS))
        keys, values = (t.repeat_interleave(HEADS // KV_HEADS, 0) for t in (keys, values))
        seen = torch.ones(count, count).tril().bool()
        scores = (queries @ keys.mT / DIM**0.5).masked_fill(~seen, -torch.inf)
        attended = (scores.softmax(-1) @ values).transpose(0, 1).reshape(count, -1)
        return x + self.out(attended) + self.down(F.gelu(self.up(normed)))


class Reference(nn.Module):
    """What `seesaw.py` describes, by plain torch over one sequence."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, width)
        self.positions = nn.Embedding(MAX_LENGTH, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(DEPTH))
        self.norm = nn.LayerNorm(width)

    def forward(self, token_ids: Tensor) -> Any:
        [tokens] = token_ids
        x = self.tokens(tokens) + self.positions.weight[: len(tokens)]
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.tokens.weight.T
        return Answer((SIZES["cap"] * torch.tanh(logits / SIZES["cap"]))[None])


class Answer:
    def __init__(self, logits: Tensor) -> None:
        self.logits = logits


def make_reference(width: int) -> Reference:
    torch.manual_seed(5)
    model = Reference(width).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:  # norms start as ones and zeros
                parameter.add_(torch.randn_like(parameter) * 0.1)
            else:
                parameter.copy_(torch.randn_like(parameter) * 0.35)
    return model


def write_folder(folder: Path, model: Reference, width: int) -> Path:
    content = SIZES | {"width": width, "vocab_size": VOCAB, "end": 2}
    file = folder / "config.json"
    file.write_text(json.dumps(content | {"architectures": ["SeesawForCausalLM"]}))
    tensors = {name: t.detach().clone() for name, t in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors")
    return folder


def write_gguf(path: Path, model: Reference, width: int, kind: Kind) -> Path:
    """With the matrices in `kind`, whose rounded values the reference gets too."""
    writer = gguf.GGUFWriter(path, "seesaw")
    for key, value in (SIZES | {"width": width, "end": 2}).items():
        add_entry = writer.add_float32 if isinstance(value, float) else writer.add_uint32
        add_entry(f"seesaw.{key}", value)

    def add(name: str, tensor: Tensor) -> None:
        used = kind if tensor.ndim == 2 and "position" not in name else Kind.F32
        data = quantize(tensor.detach().numpy(), used)
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(dequantize(data, used)).view(tensor.shape))
        writer.add_tensor(name, data, raw_dtype=used)

    def add_module(name: str, module: Any) -> None:
        add(f"{name}.weight", module.weight)
        if getattr(module, "bias", None) is not None:
            add(f"{name}.bias", module.bias)

    add_module("token_embd", model.tokens)
    add_module("position_embd", model.positions)
    add_module("output_norm", model.norm)
    for i, block in enumerate(model.blocks):
        theirs = {"norm": "attn_norm", "out": "attn_output", "up": "ffn_up", "down": "ffn_down"}
        for ours, name in theirs.items():
            add_module(f"blk.{i}.{name}", getattr(block, ours))
        parts = (HEADS * DIM, KV_HEADS * DIM, KV_HEADS * DIM)
        for kind_of in ("weight", "bias"):
            rows = getattr(block.qkv, kind_of).data.split(parts)
            for name, tensor in zip(("attn_q", "attn_k", "attn_v"), rows, strict=True):
                add(f"blk.{i}.{name}.{kind_of}", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(autouse=True)
def registered(monkeypatch) -> None:
    """The line of the registry."""
    monkeypatch.setattr(registry, "ARCHITECTURES", [*registry.ARCHITECTURES, SEESAW])


def make(source: str, folder: Path) -> tuple[Path, Reference]:
    width = 96 if source == "gguf Q8_0" else SIZES["width"]
    model = make_reference(width)
    if source == "safetensors":
        return write_folder(folder, model, width), model
    kind = Kind.Q8_0 if source == "gguf Q8_0" else Kind.F32
    return write_gguf(folder / "seesaw.gguf", model, width, kind), model


SOURCES = ["safetensors", "gguf F32", "gguf Q8_0"]


@pytest.mark.parametrize("source", SOURCES)
def test_same_greedy_tokens_as_plain_torch(source, tmp_path):
    """In chunks, several at once, from the engine's paged cache."""
    path, reference = make(source, tmp_path)
    driver = make_driver(path, max_num_batched_tokens=23, mixed_step_tokens=11)
    ids = [driver.add(p, greedy(max_tokens=12, ignore_eos=True)) for p in PROMPTS]
    tokens = driver.run()
    answers = [tokens[i] for i in ids]
    for answer, prompt in zip(answers, PROMPTS, strict=True):
        assert answer == reference_answer(reference, prompt, 12, answer)
    assert len(set(answers[0])) > 3


@pytest.mark.parametrize("source", SOURCES)
def test_same_distribution_as_plain_torch(source, tmp_path):
    path, reference = make(source, tmp_path)
    driver = make_driver(path)
    driver.add(PROMPTS[0], greedy(max_tokens=1, logprobs=VOCAB))
    [output] = driver.core.step()
    assert output.logprobs is not None
    [found] = output.logprobs
    with torch.inference_mode():
        wanted = reference(torch.tensor([PROMPTS[0]])).logits[0, -1].log_softmax(-1)
    torch.testing.assert_close(
        torch.tensor(found.top_logprobs), wanted[found.top_token_ids], rtol=1e-4, atol=1e-4
    )


class ThreadGroup:
    """Two ranks as two threads of this process."""

    size = 2

    def __init__(self, rank: int, meeting: threading.Barrier, given: list[Tensor]) -> None:
        self.rank = rank
        self._meeting = meeting
        self._given = given

    def part(self, total: int) -> range:
        return range(self.rank * total // 2, (self.rank + 1) * total // 2)

    def sum(self, x: Tensor) -> Tensor:
        first, second = self._all(x)
        return first + second

    def concatenate(self, x: Tensor, total: int) -> Tensor:
        return torch.cat(self._all(x), dim=-1)

    def _all(self, x: Tensor) -> list[Tensor]:
        self._given[self.rank] = x
        self._meeting.wait(60)
        found = list(self._given)
        self._meeting.wait(60)
        return found


@pytest.mark.parametrize("source", SOURCES)
def test_two_ranks_give_the_logits_of_one(source, tmp_path):
    path, reference = make(source, tmp_path)
    prompt = torch.tensor(PROMPTS[0])
    slots = torch.arange(len(prompt))
    batch = Batch(prompt, slots, slots, None, (PrefillChunk(0, len(prompt), 0, slots),), slots)
    meeting, given = threading.Barrier(2), [torch.empty(0)] * 2

    @torch.inference_mode()
    def logits_of(rank: int) -> Tensor:
        group = ThreadGroup(rank, meeting, given)
        reader = ShardedReader(open_weights(str(path)), group)
        assert reader.config.num_heads == HEADS // 2
        model = build_decoder(reader, torch.float32, CPU, group=group)
        caches = [LayerCache(*torch.zeros(2, len(prompt), 1, DIM)) for _ in range(DEPTH)]
        return model(batch, caches)

    with torch.inference_mode():
        wanted = reference(prompt[None]).logits[0]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(logits_of, range(2)):
            torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_kernels_are_chosen_by_the_sizes_that_the_architecture_names(tmp_path, kernels):
    path, _ = make("safetensors", tmp_path)
    load = WeightLoader(open_weights(str(path)), torch.float32, CPU, Precision(), None)
    assert isinstance(load.backend, CpuBackend)


def test_tensors_that_the_architecture_does_not_use_are_refused_by_name(tmp_path):
    reference = make_reference(72)
    reference.blocks[1].register_parameter("scales", nn.Parameter(torch.ones(3)))
    write_folder(tmp_path, reference, 72)
    with pytest.raises(ModelLoadError, match=r"seesaw.*blocks\.1\.scales"):
        open_weights(str(tmp_path))


@pytest.mark.parametrize("source", ["safetensors", "gguf F32"])
def test_missing_entry_of_the_configuration_is_named(source, tmp_path, monkeypatch):
    monkeypatch.delitem(SIZES, "cap")
    path, _ = make(source, tmp_path)
    with pytest.raises(ModelLoadError, match="cap"):
        open_weights(str(path))


def test_architecture_is_unknown_without_its_registry_line(tmp_path, monkeypatch):
    path, _ = make("safetensors", tmp_path)
    monkeypatch.setattr(registry, "ARCHITECTURES", registry.ARCHITECTURES[:-1])
    with pytest.raises(ModelLoadError, match="SeesawForCausalLM"):
        open_weights(str(path))
