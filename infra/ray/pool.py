"""What a pool on Ray is: the `args` of its application in `serve.yaml`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inference.config import MAX_LOAD_SILENCE_S

STOP_MARGIN_S = 60.0
"""Beyond the longest answer, for the engine's own end, until Ray kills the replica."""


class Scaling(BaseModel):
    """How many replicas, by what runs and waits in the pool's queue.

    Attributes:
        target_use, max_wait_s: as in `infra/autoscaling.py`, by which a pool grows and shrinks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_replicas: int = Field(default=1, ge=1)
    max_replicas: int = Field(default=1, ge=1)
    target_use: float = Field(default=0.7, gt=0, le=1)
    max_wait_s: float = Field(default=2.0, gt=0)
    up_after_s: float = Field(default=5.0, ge=0)
    down_after_s: float = Field(default=600.0, ge=0)

    @model_validator(mode="after")
    def _bounds(self) -> Scaling:
        if self.min_replicas > self.max_replicas:
            raise ValueError(
                f"min_replicas is {self.min_replicas}, max_replicas {self.max_replicas}"
            )
        return self


class PoolOnRay(BaseModel):
    """One pool: its model, how an engine of it is started, and how many there are.

    Attributes:
        pool: its id in the product, by which its queue is found.
        served_model_name: what the pool calls its model upstream.
        model: a file or folder on every node, or where from (`hf:`, `s3:`, …).
        sequences: places of one replica, the engine's `--max-num-seqs`.
        arguments: more of `python -m inference serve`.
        tensor_parallel, pipeline_parallel: their product is the ranks of one engine, each with
            `cpus`, `gpus` and `resources` of its own.
        placement: of the ranks of one replica; STRICT_SPREAD puts each on another node.
        replicas_per_node: at most so many; 0 for as many as fit. Of replicas of one rank.
        port: of every engine, where each has an address of its own; 0 for any free one.
        longest_answer_s: how long a replica that is to end waits for its answers.
        start_timeout_s: until weights are loaded, and how long a core may be away.
        max_load_silence_s: so long without a move while weights are loaded, and it has frozen.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    pool: str
    served_model_name: str
    model: str
    sequences: int = Field(default=64, ge=1)
    arguments: tuple[str, ...] = ()
    tensor_parallel: int = Field(default=1, ge=1)
    pipeline_parallel: int = Field(default=1, ge=1)
    cpus: float = Field(default=1.0, ge=0)
    gpus: float = Field(default=0.0, ge=0)
    resources: dict[str, float] = {}
    placement: Literal["PACK", "STRICT_PACK", "SPREAD", "STRICT_SPREAD"] = "PACK"
    replicas_per_node: int = Field(default=0, ge=0, le=100)
    port: int = Field(default=0, ge=0, le=65_535)
    longest_answer_s: float = Field(default=900.0, ge=0)
    start_timeout_s: float = Field(default=1_800.0, gt=0)
    max_load_silence_s: float = Field(default=MAX_LOAD_SILENCE_S, gt=0)
    scaling: Scaling = Scaling()

    @model_validator(mode="after")
    def _places(self) -> PoolOnRay:
        if self.replicas_per_node and self.ranks > 1:
            raise ValueError("replicas_per_node counts replicas of one rank: leave it out")
        return self

    @property
    def ranks(self) -> int:
        return self.tensor_parallel * self.pipeline_parallel

    @property
    def bundle(self) -> dict[str, float]:
        """What one rank takes of its node."""
        wanted = {"CPU": self.cpus, "GPU": self.gpus, **self.resources}
        return {name: amount for name, amount in wanted.items() if amount}

    def engine_arguments(self, host: str, port: int) -> list[str]:
        """The command line of each of its ranks, after `python -m inference serve`."""
        given = {
            "--model": self.model,
            "--served-model-name": self.served_model_name,
            "--max-num-seqs": str(self.sequences),
            "--tensor-parallel-size": str(self.tensor_parallel),
            "--pipeline-parallel-size": str(self.pipeline_parallel),
            "--host": host,
            "--port": str(port),
            "--max-load-silence": f"{self.max_load_silence_s:g}",
        }
        return [*(part for pair in given.items() for part in pair), *self.arguments]
