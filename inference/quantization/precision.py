"""What an engine was asked to do about bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gguf.constants import GGMLQuantizationType

WeightBits = Literal["as-is", "int8", "int4"]

_KINDS = {"int8": GGMLQuantizationType.Q8_0, "int4": GGMLQuantizationType.Q4_1}


@dataclass(frozen=True)
class Precision:
    """Matrices that the file has quantized stay as they are, whatever is asked for."""

    weights: WeightBits = "as-is"
    """What dense matrices are rounded to when they are loaded."""
    int8_activations: bool = False
    """Round what enters a product to int8, block by block, when it is computed, and where the
    processor multiplies bfloat16, what enters attention of a prompt to that. Faster, and no
    longer the float32 model. Dense matrices become int8 then unless int4 is asked for."""
    tiles: bool = False
    """Where the processor has AMX, compute many rows in bfloat16 tiles instead: prompts are faster,
    and a row's numbers depend on how many rows its step has."""

    @property
    def rounds_weights(self) -> bool:
        return self.weights != "as-is" or self.int8_activations

    @property
    def is_exact(self) -> bool:
        return not self.rounds_weights

    def kind(self, *, embedding: bool) -> GGMLQuantizationType:
        """The block format for a dense matrix. Embeddings and logits keep eight bits: they
        are few of a large model's weights and the ones that suffer most."""
        if embedding or self.weights == "as-is":
            return _KINDS["int8"]
        return _KINDS[self.weights]
