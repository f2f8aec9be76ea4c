"""The result object of OpenAI's `/v1/moderations`, from our categories.

Source of the shape: OpenAI API reference, "The moderation object". Scores of our hazard
categories are carried over by `taxonomy.TO_OPENAI`; a rule that can tell a finer category
names it itself. Prompt injection is no category there and never flags.
"""

from typing import Any

from safety.decode import views
from safety.lexical import find
from safety.policy import DEFAULT_POLICY
from safety.taxonomy import OPENAI_CATEGORIES, TO_OPENAI


def moderate(text: str) -> dict[str, Any]:
    """One element of `results` for one input text.

    Returns:
        `flagged`, `categories` (bool each), `category_scores` (0..1 each) and
        `category_applied_input_types`, each with every category of `OPENAI_CATEGORIES`.
    """
    scores = dict.fromkeys(OPENAI_CATEGORIES, 0.0)
    flags = dict.fromkeys(OPENAI_CATEGORIES, False)
    for view in views(text):
        for match in find(view.text, "prompt"):
            threshold = DEFAULT_POLICY.threshold(match.rule.category, "prompt")
            for name in (*TO_OPENAI[match.rule.category], *match.rule.moderation):
                scores[name] = max(scores[name], match.rule.score)
                flags[name] = flags[name] or match.rule.score >= threshold
    return {
        "flagged": any(flags.values()),
        "categories": flags,
        "category_scores": scores,
        "category_applied_input_types": {name: ["text"] for name in OPENAI_CATEGORIES},
    }
