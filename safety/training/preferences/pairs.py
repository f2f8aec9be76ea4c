"""Thumbs and review outcomes as preference pairs. Pure: records in, pairs out.

A side of a pair that was not written is None: the answer that the model itself gives to the
prompt, which `safety.training.align` asks it for. So a refused prompt teaches without its harmful
answer being stored anywhere.
"""

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Source = Literal["thumbs", "review", "starting"]
Messages = tuple[dict[str, str], ...]

REFUSAL = "I'm sorry, but I can't help with that. I'm glad to help with something else."
"""What the product would rather have said where a person confirmed a block."""


class InvalidPair(ValueError):
    """A line of a pairs file is not a preference pair."""


@dataclass(frozen=True, slots=True)
class PreferencePair:
    """Two answers to one prompt.

    Attributes:
        prompt: messages in OpenAI's shape, the user's newest last.
        chosen, rejected: the answers; None stands for what the model itself would say. Not both.
        refuses: the chosen answer is a refusal, so the pair teaches safety; else helpfulness.
    """

    prompt: Messages
    chosen: str | None
    rejected: str | None
    source: Source
    refuses: bool

    @property
    def prompt_key(self) -> str:
        """Equal for equal prompts."""
        return json.dumps(self.prompt)


def pairs_from_thumbs(ratings: Iterable[Mapping[str, Any]]) -> list[PreferencePair]:
    """Every answer with a thumb up against every one with a thumb down to the same prompt.

    Args:
        ratings: rows of `manage.py export_feedback`: `prompt_id`, `prompt`, `answer`, `rating`.
    """
    liked: dict[str, list[str]] = defaultdict(list)
    disliked: dict[str, list[str]] = defaultdict(list)
    prompts: dict[str, Messages] = {}
    for row in ratings:
        prompt_id = str(row["prompt_id"])
        prompts[prompt_id] = tuple(row["prompt"])
        (liked if int(row["rating"]) > 0 else disliked)[prompt_id].append(str(row["answer"]))
    return [
        PreferencePair(prompts[prompt_id], chosen, rejected, "thumbs", refuses=False)
        for prompt_id, answers in liked.items()
        for chosen, rejected in itertools.product(answers, disliked[prompt_id])
        if chosen != rejected
    ]


def pairs_from_reviews(reviews: Iterable[Mapping[str, Any]]) -> list[PreferencePair]:
    """What reviewers decided about prompts and answers.

    | reviewed | confirmed | overturned |
    |---|---|---|
    | prompt | a refusal over the model's own answer | the model's own answer over a refusal |
    | answer | a refusal over the answer | the answer over a refusal |

    Args:
        reviews: rows of `manage.py export_reviews`; an answer whose prompt is not retained is left
            out, since it is not known what it replies to.
    """
    pairs: list[PreferencePair] = []
    for row in reviews:
        text = row["text"] if row["stage"] == "prompt" else row.get("prompt")
        if not text:
            continue
        answer = None if row["stage"] == "prompt" else str(row["text"])
        prompt: Messages = ({"role": "user", "content": str(text)},)
        if row["label"] == "harmful":
            pairs.append(PreferencePair(prompt, REFUSAL, answer, "review", refuses=True))
        else:
            pairs.append(PreferencePair(prompt, answer, REFUSAL, "review", refuses=False))
    return pairs


def write_pairs(path: Path, pairs: Iterable[PreferencePair]) -> int:
    """Write JSON lines; how many."""
    lines = [json.dumps(asdict(pair), ensure_ascii=False) for pair in pairs]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines)


def read_pairs(path: Path) -> Iterator[PreferencePair]:
    """The pairs that `write_pairs` wrote.

    Raises:
        InvalidPair: a line that is none, with its number.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            pair = PreferencePair(**json.loads(line))
            pair = PreferencePair(
                tuple(pair.prompt), pair.chosen, pair.rejected, pair.source, bool(pair.refuses)
            )
        except (TypeError, ValueError) as error:
            raise InvalidPair(f"{path}:{number} is no preference pair: {error}") from error
        if not pair.prompt or (pair.chosen is None and pair.rejected is None):
            raise InvalidPair(f"{path}:{number} has no prompt, or names neither answer.")
        yield pair
