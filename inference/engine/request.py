"""One sequence on its way through the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from inference.sampling.params import SamplingParams


class RequestStatus(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(eq=False)
class Request:
    """Tokens known, tokens computed, and the blocks that hold the computed ones' KV.

    There is no prefill or decode phase: a request with `num_computed < num_tokens` has
    tokens to compute, and when the last known one is computed the model's logits give
    the next. Invariants: `num_computed <= num_tokens` whenever no step is in flight, and
    `len(block_ids) * block_size >= num_computed`.
    """

    request_id: str
    prompt_token_ids: list[int]
    sampling: SamplingParams
    priority: int = 0
    arrived_at: float = 0.0
    cache_salt: str = ""
    deadline: float | None = None
    """When it ends with what it has by then, in `arrived_at`'s clock."""
    pools: bool = False
    """Wanted is one vector of the prompt, not tokens after it."""

    status: RequestStatus = RequestStatus.WAITING
    token_ids: list[int] = field(init=False)
    num_computed: int = 0
    block_ids: list[int] = field(default_factory=list)
    block_hashes: list[bytes] = field(default_factory=list)
    host_block_ids: list[int] = field(default_factory=list)
    swapped_tokens: int = 0
    """While it waits: the tokens whose keys and values are in its host blocks."""
    num_registered: int = 0
    """The first so many blocks are full and were offered to the prefix cache."""
    cached_tokens: int = 0
    """Prompt tokens found in the prefix cache when the request first ran."""
    was_scheduled: bool = False

    def __post_init__(self) -> None:
        self.token_ids = list(self.prompt_token_ids)

    @property
    def num_tokens(self) -> int:
        return len(self.token_ids)

    @property
    def num_output_tokens(self) -> int:
        return len(self.token_ids) - len(self.prompt_token_ids)

    @property
    def output_token_ids(self) -> list[int]:
        return self.token_ids[len(self.prompt_token_ids) :]
