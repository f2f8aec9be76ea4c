"""Preference pairs made whole, and split into what is trained on and what is measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from safety.training.preferences.pairs import Messages, PreferencePair

Answerer = Callable[[Sequence[Messages]], list[str]]


@dataclass(frozen=True, slots=True)
class Example:
    """A pair with both answers. `refuses`: see PreferencePair."""

    prompt: Messages
    chosen: str
    rejected: str
    refuses: bool


@dataclass(frozen=True, slots=True)
class TrainingSplit:
    """No prompt is in both."""

    train: list[Example]
    held_out: list[Example]


def complete(pairs: Sequence[PreferencePair], answer: Answerer) -> list[Example]:
    """`pairs` with the model's own answer on the open side; those where it says what the other
    side says, or nothing, teach nothing and are left out."""
    open_pairs = [pair for pair in pairs if pair.chosen is None or pair.rejected is None]
    answered_by_model = map(whole_sentences, answer([pair.prompt for pair in open_pairs]))
    own = dict(zip((pair.prompt_key for pair in open_pairs), answered_by_model, strict=True))
    examples = []
    for pair in pairs:
        answered = own.get(pair.prompt_key, "")
        chosen = answered if pair.chosen is None else pair.chosen
        rejected = answered if pair.rejected is None else pair.rejected
        if chosen and rejected and chosen != rejected:
            examples.append(Example(pair.prompt, chosen, rejected, pair.refuses))
    return examples


def whole_sentences(text: str) -> str:
    """`text` up to its last sentence's end, where it has one: an answer that was cut short must
    not teach to stop in the middle."""
    end = max(text.rfind(mark) for mark in (". ", "! ", "? ", ".\n", "!\n", "?\n"))
    if text.rstrip().endswith((".", "!", "?")):
        return text.rstrip()
    return text[: end + 1] if end > 0 else text


def split(examples: Sequence[Example], *, held_out_share: float = 0.3) -> TrainingSplit:
    """The last share of each kind, refusing and helping, is held out, by prompt."""
    train: list[Example] = []
    held_out: list[Example] = []
    for refuses in (True, False):
        kind = [example for example in examples if example.refuses is refuses]
        prompts = list(dict.fromkeys(str(example.prompt) for example in kind))
        kept = set(prompts[: round(len(prompts) * (1 - held_out_share))])
        for example in kind:
            (train if str(example.prompt) in kept else held_out).append(example)
    return TrainingSplit(train, held_out)
