"""Values that pass between the safety core and its callers. Frozen; JSON-able by their fields."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Literal

Stage = Literal["prompt", "output"]


class Action(StrEnum):
    """What a policy does about a category, mildest first.

    `BLOCK` stops: a blocked prompt reaches no engine, a blocked output is halted. `HALT` stops
    the output alone: a policy may let a prompt pass, flagged, and watch the answer. In a decision
    it has become `FLAG` or `BLOCK` (`Policy.action`). `REDACT` replaces personal data in an
    output; `REVIEW` lets pass and queues for a person.
    """

    ALLOW = "allow"
    FLAG = "flag"
    REVIEW = "review"
    REDACT = "redact"
    HALT = "halt"
    BLOCK = "block"

    @property
    def severity(self) -> int:
        return _SEVERITY[self]


_SEVERITY: dict[Action, int] = {action: rank for rank, action in enumerate(Action)}


@dataclass(frozen=True, slots=True)
class SafetyMessage:
    """One message of a conversation, as text.

    Args:
        role: `system`, `user`, `assistant` or `tool`; a `tool` message is untrusted
            content, where instructions are never the user's.
        is_data: what a user's message brings along, such as a file: it counts as their words,
            but orders in it are not theirs.
    """

    role: str
    text: str
    is_data: bool = False

    @property
    def is_untrusted(self) -> bool:
        return self.is_data or self.role == "tool"


@dataclass(frozen=True, slots=True)
class SafetyDecision:
    """What was checked, what was found and what is done about it.

    Attributes:
        scores: by category, probability in 0..1, every category that any layer scored.
        categories: those at or over the policy's threshold, highest score first.
        layer: which layer decided: `lexical`, `classifier`, `guard`, `personal_data`,
            `failure` (a layer crashed), or `none`.
        text_sha256: of the checked text; the text itself is never in a decision.
        would_be: the action a dry-run policy withheld.
        signals: names of the rules that matched, for the reviewer and the metrics.
        failed: layers that crashed while deciding (see docs/safety.md, "When a layer fails").
    """

    stage: Stage
    action: Action
    scores: dict[str, float]
    categories: list[str]
    policy_version: str
    latency_ms: float
    layer: str
    text_sha256: str
    would_be: Action | None = None
    signals: tuple[str, ...] = ()
    failed: tuple[str, ...] = field(default=())

    @property
    def blocked(self) -> bool:
        return self.action is Action.BLOCK


@dataclass(frozen=True, slots=True)
class Released:
    """Text that has passed and may be sent; empty while everything new is held back."""

    text: str


@dataclass(frozen=True, slots=True)
class Halt:
    """The answer ends here: `text` is the last that may be sent, nothing may follow."""

    text: str
    decision: SafetyDecision


Verdict = Released | Halt


def newest_of(messages: Sequence[SafetyMessage]) -> str:
    """The newest user message's text, which a decision about a prompt is named by; "" without."""
    return next((m.text for m in reversed(messages) if m.role == "user"), "")


def text_digest(text: str) -> str:
    """SHA-256 of `text`, hex; lone surrogates are kept distinct rather than refused."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
