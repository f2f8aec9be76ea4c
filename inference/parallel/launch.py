"""Starts the ranks of a model, or joins those that torchrun started, and loads each part.

Run as `python -m inference.parallel.launch` this is a rank that follows; it reads what it is
from standard input, as JSON, and ends with rank 0.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch
import torch.distributed as dist

from inference.config import EngineConfig
from inference.errors import ModelLoadError
from inference.kernels.batch import LayerCache
from inference.model.build import build_decoder, build_layers
from inference.model.config import ModelConfig
from inference.model.cuda_graphs import Capture, CudaCapture, GraphLayout
from inference.model.decoder import Decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import BlockCounts, allocate_caches, count_blocks, longest_sequence
from inference.model.placement import pick_device, pick_dtype, pick_kv_dtype, pick_precision
from inference.parallel.leader import LeadingModel, follow
from inference.parallel.pipeline import StageModel
from inference.parallel.shard import ShardedReader
from inference.parallel.world import World
from inference.quantization.precision import Precision

log = logging.getLogger(__name__)


class FollowerStart(msgspec.Struct, frozen=True):
    """What a following rank needs to start."""

    engine: EngineConfig
    rank: int
    address: str


@dataclass(frozen=True)
class Part:
    """What one rank has loaded."""

    config: ModelConfig
    """With this rank's number of heads."""
    num_layers: int
    stage: StageModel
    ends: Decoder | None
    """Embedding and logits, on the first stage."""
    precision: Precision


@dataclass(frozen=True)
class Leader:
    """Rank 0, with the processes that it started."""

    model: LeadingModel
    part: Part
    world: World
    followers: tuple[subprocess.Popen[bytes], ...]
    meeting_place: tempfile.TemporaryDirectory[str] | None
    """Where the ranks found each other; goes with this object or the process."""
    capture: Capture | None
    """What records decode steps; None where they are computed as they are."""

    def record(self, config: EngineConfig, caches: list[LayerCache], counts: BlockCounts) -> None:
        """Record decode steps on all ranks, where the engine is to and the layers can be."""
        if self.capture is None or not self.part.stage.can_be_recorded:
            if config.graphs_on_ranks:
                log.warning("decode steps are not recorded: no graph holds them here")
            return
        width = -(-longest_sequence(config, self.part.config) // config.block_size)
        seats = config.scheduler.max_num_seqs
        size = config.block_size
        layout = GraphLayout.up_to(seats, width, size, *counts.spare_slots(size))
        if self.model.record(layout, self.capture, caches):
            log.info("decode steps of up to %d rows are recorded on all ranks", layout.sizes[0])

    def close(self) -> None:
        """End all ranks; those that wait in the middle of a step are killed."""
        self.model.close()
        if self.model.is_broken:
            for process in self.followers:
                process.kill()
        dist.destroy_process_group()
        for process in self.followers:
            process.wait()
        if self.meeting_place is not None:
            self.meeting_place.cleanup()


def is_parallel(config: EngineConfig) -> bool:
    return config.tensor_parallel * config.pipeline_parallel > 1


def check_can_be_split(config: EngineConfig) -> None:
    """Asked before other ranks are started or waited for, who would wait for this one.

    Raises:
        ModelLoadError: for a model that several ranks cannot compute.
    """
    whole = open_weights(config.model)
    if whole.architecture.vision is not None:
        raise ModelLoadError(
            f"{whole.architecture.name} looks at images, which is not implemented on several ranks"
        )
    if whole.config.state_shapes:
        raise ModelLoadError(
            f"{whole.architecture.name} keeps states, which is not implemented on several ranks"
        )


def lead(config: EngineConfig, dtype: torch.dtype, device: torch.device) -> Leader:
    """Load rank 0's part while the others load theirs.

    Raises:
        ModelLoadError: when the model cannot be split so.
    """
    followers: list[subprocess.Popen[bytes]] = []
    meeting_place: tempfile.TemporaryDirectory[str] | None = None
    if "RANK" in os.environ:
        address = "env://"  # torchrun has started the others
    else:
        meeting_place = tempfile.TemporaryDirectory(prefix="parley-ranks-")
        address = Path(meeting_place.name, "store").as_uri()
        size = config.tensor_parallel * config.pipeline_parallel
        followers = [_start(FollowerStart(config, rank, address)) for rank in range(1, size)]
    world = _join(config, 0, address, device)
    part = load_part(world, config, dtype, device)
    assert part.ends is not None
    model = LeadingModel(world, part.stage, part.ends, dtype)
    capture = pick_capture(config, device)
    return Leader(model, part, world, tuple(followers), meeting_place, capture)


def pick_capture(config: EngineConfig, device: torch.device) -> Capture | None:
    """What records a rank's decode steps: CUDA graphs where they are asked for."""
    if not config.graphs_on_ranks or device.type != "cuda":
        return None
    return CudaCapture()


def spare_slots(config: EngineConfig, device: torch.device, capture: Capture | None) -> int:
    """Of a rank's cache, beyond its blocks: where the empty rows of a graph write."""
    return config.block_size if device.type == "cuda" or capture is not None else 0


def load_part(world: World, config: EngineConfig, dtype: torch.dtype, device: torch.device) -> Part:
    """Read this rank's weights."""
    whole = open_weights(config.model)
    layers = world.layers(whole.config.num_layers)
    group = world.tensor if world.tensor.size > 1 else None
    reader = ShardedReader(whole, group) if group else whole
    precision = pick_precision(config, reader, dtype, device)
    if world.is_first_stage:
        model = build_decoder(reader, dtype, device, precision, group, layers)
        stage = StageModel(world, model.layers, model)
        return Part(reader.config, len(layers), stage, model, precision)
    stack = build_layers(reader, dtype, device, precision, group, layers)
    return Part(reader.config, len(layers), StageModel(world, stack, None), None, precision)


def run_follower(config: EngineConfig, rank: int, address: str) -> None:
    """Be a rank other than 0 until rank 0 ends."""
    if config.num_threads:
        torch.set_num_threads(config.num_threads)
    device = pick_device(config, rank)
    dtype = pick_dtype(config, device)
    check_can_be_split(config)
    world = _join(config, rank, address, device)
    part = load_part(world, config, dtype, device)
    kv_dtype = pick_kv_dtype(config, part.precision, dtype)
    counts = count_blocks(config, part.config, part.num_layers, kv_dtype, device)
    counts = counts.agreed(world.least)
    slots = counts.slots(part.config, part.num_layers, config.block_size)
    capture = pick_capture(config, device)
    spare = spare_slots(config, device, capture)
    caches = allocate_caches(
        [each + spare for each in slots], part.config, part.num_layers, kv_dtype, device
    )
    try:
        follow(world, part.stage, part.ends, caches, dtype, device, capture)
    except RuntimeError as error:
        log.info("rank %d ends: %s", rank, error)
    finally:
        dist.destroy_process_group()


def _join(config: EngineConfig, rank: int, address: str, device: torch.device) -> World:
    backend = "gloo"
    if device.type == "cuda":
        torch.cuda.set_device(device)
        backend = "nccl"
    return World.join(rank, config.tensor_parallel, config.pipeline_parallel, address, backend)


def _start(start: FollowerStart) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "inference.parallel.launch"], stdin=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(start))
    process.stdin.close()
    return process


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s rank %(message)s")
    start = msgspec.json.decode(sys.stdin.buffer.read(), type=FollowerStart)
    run_follower(start.engine, start.rank, start.address)


if __name__ == "__main__":
    main()
