"""What a generation has used, as it is metered and as clients are told."""

from collections.abc import Sequence
from typing import Any

import msgspec

from billing.quantities import TokenCounts


class Usage(msgspec.Struct, frozen=True):
    """What is metered: what was delivered, not what was computed.

    A field for each kind of tokens, named like its column (`billing.quantities.Kind`). It passes
    as a whole from the upstream's chunk to the row, so nothing on the way names the kinds.
    """

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    audio_seconds: int = 0
    spoken_characters: int = 0
    image_tokens: int = 0
    cached_output_tokens: int = 0

    @classmethod
    def of(cls, counted: object) -> "Usage":
        """Of anything that has the kinds as attributes."""
        return cls(*(getattr(counted, name) for name in cls.__struct_fields__))

    def at_most(self, *, input_tokens: int, output_tokens: int) -> "Usage":
        """The same with no more input and output, and no part larger than its whole."""
        return self.with_(
            input_tokens=min(self.input_tokens, input_tokens),
            output_tokens=min(self.output_tokens, output_tokens),
        )

    def with_(self, **changed: int) -> "Usage":
        """The same with other counts, and no part larger than its whole."""
        counts = TokenCounts.of(msgspec.structs.replace(self, **changed))
        return Usage(**counts.clamped().columns())

    def as_openai(self) -> dict[str, Any]:
        images = {"image_tokens": self.image_tokens} if self.image_tokens else {}
        reused = {"cached_tokens": self.cached_output_tokens} if self.cached_output_tokens else {}
        return {
            "prompt_tokens": self.input_tokens,
            "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_input_tokens, **images},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning_tokens, **reused},
        }


def usage_of_answer(prompt: Usage, *, output_tokens: int, thought_tokens: int) -> Usage:
    """`prompt` with its answer. What was reused comes first in an answer, as the thought does: of a
    thought only what was computed counts as one."""
    return msgspec.structs.replace(
        prompt,
        output_tokens=output_tokens,
        reasoning_tokens=max(0, thought_tokens - prompt.cached_output_tokens),
    )


class PredictedTokens(msgspec.Struct, frozen=True):
    """Of a prediction, the tokens that were right and wrong. They are not billed."""

    accepted: int = 0
    rejected: int = 0

    def plus(self, more: "PredictedTokens") -> "PredictedTokens":
        return PredictedTokens(self.accepted + more.accepted, self.rejected + more.rejected)


def usage_as_openai(usage: Usage, predicted: PredictedTokens | None) -> dict[str, Any]:
    """`predicted`: where there was a prediction, and the generation ran in one process."""
    shown = usage.as_openai()
    if predicted is not None:
        shown["completion_tokens_details"] |= {
            "accepted_prediction_tokens": predicted.accepted,
            "rejected_prediction_tokens": predicted.rejected,
        }
    return shown


def total_of(counted: Sequence[Usage]) -> Usage:
    if len(counted) == 1:
        return counted[0]
    return Usage(
        **{name: sum(getattr(one, name) for one in counted) for name in Usage.__struct_fields__}
    )
