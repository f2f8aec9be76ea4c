"""What a decoder is: sizes and switches, wherever they were read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

from inference.errors import ModelLoadError


@dataclass(frozen=True)
class RopeConfig:
    """Rotary embedding. `kind` and the fields it uses follow transformers' names."""

    theta: float = 10000.0
    kind: Literal["default", "linear", "llama3", "yarn", "longrope", "none"] = "default"
    """`none`: nothing is rotated."""
    dims: int | None = None
    """How many dimensions of a head are rotated; all where None. An architecture puts them at
    the beginning of both halves of a head (`turning_first` of phi3.py)."""
    factor: float = 1.0
    original_max_position: int = 0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None
    truncate: bool = True
    slowed_by: tuple[float, ...] = ()
    """A divisor for each pair of dimensions, as longrope has them and GGUF writes llama3's
    scaling; none when empty."""
    sections: tuple[int, ...] = ()
    """So many pairs turn by time, row and column of a token, one after another; none: all turn by
    its position."""


@dataclass(frozen=True)
class MoeConfig:
    """Mixture of experts: each token goes to its `per_token` best experts."""

    num_experts: int
    per_token: int
    normalise: bool
    """Whether the chosen experts' weights are made to sum to one."""
    scores: Literal["softmax", "sigmoid"] = "softmax"
    scale: float = 1.0
    """Of the chosen experts' weights, at last."""
    groups: int = 1
    """Experts are chosen from the best `kept_groups` of so many equal groups."""
    kept_groups: int = 1
    weighs_input: bool = False
    """Whether a weight is of what enters its expert, not of what leaves it."""
    group_by: int = 1
    """A group is as good as the sum of so many of its best experts."""


@dataclass(frozen=True)
class ModelConfig:
    """What most architectures have; a switch that one lacks has its neutral value, and one that
    only it has stands in a subclass in its file. Biases are there when their weights are.
    """

    architecture: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    rms_eps: float
    max_position: int
    tied_embeddings: bool
    eos_token_ids: frozenset[int]
    rope: RopeConfig = RopeConfig()
    windows: dict[int, int] = field(default_factory=dict)
    """Layers that attend to their last so many tokens only."""
    moe: MoeConfig | None = None
    is_encoder: bool = False
    """Every token attends to all of its text: a text is computed whole, and gives a vector only."""
    raw: Mapping[str, Any] = field(default_factory=dict)
    """config.json, with the image processor's settings, of families with a vision tower."""

    @property
    def reach(self) -> dict[int, int]:
        """Of layers whose tokens attend to no more than so many last ones, their own included."""
        return self.windows

    @property
    def window(self) -> int | None:
        """How many last tokens are attended to by the layer that sees most; None: one sees all."""
        return max(self.reach.values()) if len(self.reach) == self.num_layers else None

    @property
    def longest_image(self) -> int:
        """Tokens of an image that may be computed in one step, whatever the step's budget."""
        return int(self.raw.get("mm_tokens_per_image", 256)) if self.raw else 0

    @property
    def state_shapes(self) -> tuple[tuple[int, ...], ...]:
        """What each layer keeps of a sequence beside keys and values, in float32."""
        return ()

    @classmethod
    def of(cls, plain: ModelConfig, **own: Any) -> Self:
        """An architecture's own configuration: what most have, and what only it has."""
        return cls(**{each.name: getattr(plain, each.name) for each in fields(plain)}, **own)

    def of_rank(self, size: int) -> Self:
        """The sizes of a rank's part, where `size` ranks share every layer.

        Raises:
            ModelLoadError: when they cannot be shared out so often.
        """
        shared = {
            "key-value heads": self.num_kv_heads,
            "query heads": self.num_heads,
            "columns of the MLP": self.intermediate_size,
        }
        for name, number in shared.items():
            if number % size:
                raise ModelLoadError(f"{number} {name} cannot be split over {size} ranks")
        return replace(
            self,
            num_heads=self.num_heads // size,
            num_kv_heads=self.num_kv_heads // size,
            # Experts are dealt out whole.
            intermediate_size=self.intermediate_size // (1 if self.moe else size),
        )
