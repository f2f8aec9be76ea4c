"""What was found for a request that may be answered by another one's answer."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import msgspec

from backend.accounts.data_policy import ReuseRules
from backend.generation.models import FROM_OUTAGE

CACHE_HEADER = "X-Cache"


class Source(StrEnum):
    """Where an answer comes from; in the header, the row of the generation and the metrics."""

    SHARED = "shared"  # an identical request that was being answered
    EXACT = "exact"  # the stored answer to an identical request
    OUTAGE = FROM_OUTAGE  # the same, of whatever revision, while no replica could serve
    MISS = "miss"  # computed, where a stored answer would have been taken


class ReusableAnswer(msgspec.Struct, frozen=True):
    """A whole answer of one choice.

    Attributes:
        input_tokens: of its prompt.
        thought_tokens: of `output_tokens`, those of the thought.
        finish_reason: as ChoiceOutput has it.
    """

    text: str
    input_tokens: int
    output_tokens: int
    thought_tokens: int
    finish_reason: str


@dataclass(slots=True)
class ReusePlan:
    """How one request is to be answered.

    Attributes:
        digest: by which identical requests are found.
        revision: of the model, as its replicas announce it; "" where none does.
        shares: whether it is found by those that arrive while it runs, or follows such a one.
        leader: the generation that it follows; None: it is computed, or there is an `answer`.
        answer: the stored one that it gets.
        stores: whether its own is stored.
        source: None where nothing is said about it.
    """

    organization_id: UUID
    digest: str
    revision: str
    rules: ReuseRules
    shares: bool
    leader: UUID | None = None
    answer: ReusableAnswer | None = None
    stores: bool = False
    source: Source | None = None

    @property
    def computes(self) -> bool:
        """Whether it needs a place at a replica from the start."""
        return self.leader is None and self.answer is None

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.source is None else {CACHE_HEADER: self.source.value}
