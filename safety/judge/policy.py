"""A policy: at which score something is done about a category, and what.

Frozen and comparable; `as_dict` and `from_dict` are its stored form (`safety.audit` keeps
versions of it per organization and model). The core never looks a policy up: callers pass it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from safety.taxonomy import HIGH_RISK, Category
from safety.types import Action, Stage


class InvalidPolicy(ValueError):
    """A stored or entered policy names an unknown category or action, or a bad threshold."""


UNTRUSTABLE = frozenset({Category.CHILD_EXPLOITATION})
"""What no trust lets through."""


@dataclass(frozen=True)
class Policy:
    """What is done about each category.

    Args:
        version: stored with every decision made under it.
        thresholds: score in 0..1 from which a category counts, for prompts.
        output_thresholds: the same for generated text; a category absent here uses `thresholds`.
        actions: what a category at its threshold leads to; absent means allow.
        redact: kinds of personal data replaced in outputs (see `safety.score.personal_data`).
        dry_run: decide and record, but stop nothing.
        allow_hashes: SHA-256 of exact prompts that are let through (trusted research).
        trusted_keys: ids of API keys whose requests are flagged where others' are stopped
            (trusted research); see `for_key`.
        fail_closed: categories for whose sake a prompt is refused when a layer crashes.
        store_text_days: how long the checked text is kept, encrypted; 0 keeps only its hash.
        guard: ask a guard model about scores within `guard_band` below the threshold.
        owner: the organization whose requests it rules, for what is remembered of their texts;
            no part of what is stored or compared.
    """

    version: str
    thresholds: Mapping[Category, float]
    actions: Mapping[Category, Action]
    output_thresholds: Mapping[Category, float] = field(default_factory=dict)
    redact: frozenset[str] = frozenset()
    dry_run: bool = False
    allow_hashes: frozenset[str] = frozenset()
    trusted_keys: frozenset[str] = frozenset()
    fail_closed: frozenset[Category] = HIGH_RISK
    store_text_days: int = 0
    guard: bool = False
    guard_band: float = 0.35
    owner: str | None = field(default=None, compare=False)

    def threshold(self, category: Category, stage: Stage) -> float:
        """The score from which `category` counts at `stage`; above 1 it never does."""
        default = self.thresholds.get(category, 2.0)
        return self.output_thresholds.get(category, default) if stage == "output" else default

    def judge(self, scores: Mapping[Category, float], stage: Stage) -> tuple[Action, list[str]]:
        """The strictest action that `scores` call for, and the categories over their threshold.

        `dry_run` is not applied here: the caller records what would have been done.
        """
        over = [c for c, score in scores.items() if score >= self.threshold(c, stage)]
        over.sort(key=lambda c: -scores[c])
        action = max(
            (self.action(c, stage) for c in over),
            key=lambda a: a.severity,
            default=Action.ALLOW,
        )
        return action, [str(c) for c in over]

    def action(self, category: Category, stage: Stage) -> Action:
        """What `category` over its threshold leads to at `stage`: `halt` is a flag on a prompt,
        and stops an output like `block`."""
        action = self.actions.get(category, Action.ALLOW)
        if action is Action.HALT:
            return Action.FLAG if stage == "prompt" else Action.BLOCK
        return action

    def for_key(self, key_id: str | None) -> "Policy":
        """What rules a request with this key. A trusted one is stopped for the sake of
        UNTRUSTABLE categories only; everything else is flagged, and recorded as ever."""
        if key_id is None or key_id not in self.trusted_keys:
            return self
        actions = {
            category: action
            if category in UNTRUSTABLE or action.severity <= Action.FLAG.severity
            else Action.FLAG
            for category, action in self.actions.items()
        }
        return replace(self, actions=actions, fail_closed=self.fail_closed & UNTRUSTABLE)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form; `from_dict` gives an equal policy back."""
        return {
            "version": self.version,
            "thresholds": {str(c): t for c, t in self.thresholds.items()},
            "output_thresholds": {str(c): t for c, t in self.output_thresholds.items()},
            "actions": {str(c): str(a) for c, a in self.actions.items()},
            "redact": sorted(self.redact),
            "dry_run": self.dry_run,
            "allow_hashes": sorted(self.allow_hashes),
            "trusted_keys": sorted(self.trusted_keys),
            "fail_closed": sorted(self.fail_closed),
            "store_text_days": self.store_text_days,
            "guard": self.guard,
            "guard_band": self.guard_band,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Policy":
        """The policy that `as_dict` wrote; what is absent takes the default policy's value.

        Raises:
            InvalidPolicy: an unknown category or action, or a threshold outside 0..1.
        """
        base = {**DEFAULT_POLICY.as_dict(), **data}
        try:
            return cls(
                version=str(base["version"]),
                thresholds=_thresholds(base["thresholds"]),
                output_thresholds=_thresholds(base["output_thresholds"]),
                actions={Category(c): Action(a) for c, a in base["actions"].items()},
                redact=frozenset(base["redact"]),
                dry_run=bool(base["dry_run"]),
                allow_hashes=frozenset(base["allow_hashes"]),
                trusted_keys=frozenset(base["trusted_keys"]),
                fail_closed=frozenset(Category(c) for c in base["fail_closed"]),
                store_text_days=int(base["store_text_days"]),
                guard=bool(base["guard"]),
                guard_band=float(base["guard_band"]),
            )
        except (AttributeError, TypeError, ValueError) as error:
            raise InvalidPolicy(f"Not a safety policy: {error}") from error


def _thresholds(raw: Mapping[str, Any]) -> dict[Category, float]:
    thresholds = {Category(name): float(value) for name, value in raw.items()}
    for category, value in thresholds.items():
        if not 0.0 <= value <= 1.0:
            raise InvalidPolicy(f"The threshold of {category} is {value}; it must be in 0..1.")
    return thresholds


_ACTIONS: dict[Category, Action] = {
    # What ordinary prompts touch all the time is noted, never refused: illness, law,
    # money, public persons, quotations.
    Category.DEFAMATION: Action.FLAG,
    Category.SPECIALIZED_ADVICE: Action.FLAG,
    Category.INTELLECTUAL_PROPERTY: Action.FLAG,
    Category.VIOLENT_CRIMES: Action.BLOCK,
    Category.NON_VIOLENT_CRIMES: Action.BLOCK,
    Category.SEX_CRIMES: Action.BLOCK,
    Category.CHILD_EXPLOITATION: Action.BLOCK,
    Category.PRIVACY: Action.BLOCK,
    Category.INDISCRIMINATE_WEAPONS: Action.BLOCK,
    Category.HATE: Action.BLOCK,
    Category.SELF_HARM: Action.BLOCK,
    Category.SEXUAL_CONTENT: Action.BLOCK,
    Category.ELECTIONS: Action.BLOCK,
    Category.CODE_ABUSE: Action.BLOCK,
    Category.PROMPT_INJECTION: Action.BLOCK,
}

STANDARD_THRESHOLD = 0.8
"""Of harm, in prompts and in answers."""

DEFAULT_POLICY = Policy(
    version="default-1",
    # Long role-play prompts of honest users resemble jailbreaks: only clear ones count.
    # Who seeks help for themselves or a friend uses the words of self-harm: refused only where a
    # rule saw a method being asked for, or the network is very sure.
    thresholds={
        **dict.fromkeys(Category, STANDARD_THRESHOLD),
        Category.PROMPT_INJECTION: 0.95,
        Category.SELF_HARM: 0.91,
    },
    actions=_ACTIONS,
    redact=frozenset({"card_number", "secret_key", "private_key"}),
)
"""What applies where no policy is saved."""

STRICT_POLICY = replace(
    DEFAULT_POLICY,
    version="strict-1",
    thresholds={**dict.fromkeys(Category, 0.6), Category.PROMPT_INJECTION: 0.8},
    redact=DEFAULT_POLICY.redact | {"email", "phone", "iban", "national_id"},
)
RELAXED_POLICY = replace(
    DEFAULT_POLICY,
    version="relaxed-1",
    thresholds={**dict.fromkeys(Category, 0.93), Category.CHILD_EXPLOITATION: 0.8},
    actions={
        **_ACTIONS,
        Category.SEXUAL_CONTENT: Action.FLAG,
        Category.PROMPT_INJECTION: Action.FLAG,
    },
)
PRESETS: dict[str, Policy] = {
    "standard": DEFAULT_POLICY,
    "strict": STRICT_POLICY,
    "relaxed": RELAXED_POLICY,
}
