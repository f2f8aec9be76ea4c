"""What is counted and priced: five kinds of tokens, disjoint.

Upstreams report inclusive numbers (a prompt's tokens contain its cached ones, a completion's
contain its reasoning ones), as OpenAI does; the ledger keeps them so, because users compare
them with what the API told them. Prices apply to disjoint quantities, and this module is the
only place that turns the one into the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum


class Kind(StrEnum):
    INPUT = "input"
    CACHED_INPUT = "cached_input"
    IMAGE = "image"
    OUTPUT = "output"
    REASONING = "reasoning"


@dataclass(frozen=True, slots=True)
class Quantities:
    """Tokens by kind; no token is in two of them.

    Attributes:
        input: prompt tokens that were computed and are text.
        cached_input: prompt tokens found in the prefix cache.
        image: prompt tokens that stand for an image.
        output: answer tokens that are not reasoning.
        reasoning: answer tokens that the client does not see as text.
    """

    input: int = 0
    cached_input: int = 0
    image: int = 0
    output: int = 0
    reasoning: int = 0

    def items(self) -> Iterator[tuple[Kind, int]]:
        for kind in Kind:
            yield kind, getattr(self, kind.value)

    def __add__(self, other: "Quantities") -> "Quantities":
        return Quantities(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(Quantities))
        )

    def __bool__(self) -> bool:
        return any(quantity for _, quantity in self.items())


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens as reported: `cached_input` and `image` are part of `input`, `reasoning` of `output`.

    Invariant, also held by constraints in the database: cached_input + image <= input and
    reasoning <= output, none negative.
    """

    input: int = 0
    cached_input: int = 0
    output: int = 0
    reasoning: int = 0
    image: int = 0

    @classmethod
    def clamped(
        cls, *, input: int, cached_input: int, output: int, reasoning: int = 0, image: int = 0
    ) -> "TokenCounts":
        """The counts with the invariant enforced, for numbers that an upstream made up.

        A part larger than its whole is cut to it: a bad report must not stop a generation
        from ending, and the customer is never charged for more than the whole.
        """
        input, output = max(input, 0), max(output, 0)
        cached_input = min(max(cached_input, 0), input)
        image = min(max(image, 0), input - cached_input)
        return cls(input, cached_input, output, min(max(reasoning, 0), output), image)

    def billable(self) -> Quantities:
        return Quantities(
            input=self.input - self.cached_input - self.image,
            cached_input=self.cached_input,
            image=self.image,
            output=self.output - self.reasoning,
            reasoning=self.reasoning,
        )
