"""The hazard categories that every layer speaks in, and their map to OpenAI's.

Source of the names and codes: MLCommons AI Safety taxonomy as Llama Guard 3 numbers it
(S1 to S14). `PROMPT_INJECTION` is ours: it describes an attack on the product, not a harm to
people, so it has no counterpart among OpenAI's categories and never flags `/v1/moderations`.
"""

from enum import StrEnum


class Category(StrEnum):
    VIOLENT_CRIMES = "violent_crimes"
    NON_VIOLENT_CRIMES = "non_violent_crimes"
    SEX_CRIMES = "sex_crimes"
    CHILD_EXPLOITATION = "child_exploitation"
    DEFAMATION = "defamation"
    SPECIALIZED_ADVICE = "specialized_advice"
    PRIVACY = "privacy"
    INTELLECTUAL_PROPERTY = "intellectual_property"
    INDISCRIMINATE_WEAPONS = "indiscriminate_weapons"
    HATE = "hate"
    SELF_HARM = "self_harm"
    SEXUAL_CONTENT = "sexual_content"
    ELECTIONS = "elections"
    CODE_ABUSE = "code_abuse"
    PROMPT_INJECTION = "prompt_injection"


LLAMA_GUARD_CODES: dict[str, Category] = {
    f"S{number}": category
    for number, category in enumerate(
        (c for c in Category if c is not Category.PROMPT_INJECTION), start=1
    )
}
"""S1 … S14 as a Llama Guard model writes them in its answer."""

HIGH_RISK: frozenset[Category] = frozenset(
    {
        Category.VIOLENT_CRIMES,
        Category.SEX_CRIMES,
        Category.CHILD_EXPLOITATION,
        Category.INDISCRIMINATE_WEAPONS,
        Category.SELF_HARM,
    }
)
"""Where a failed classifier means no answer, rather than an unchecked one."""

OPENAI_CATEGORIES: tuple[str, ...] = (
    "harassment",
    "harassment/threatening",
    "sexual",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm/intent",
    "self-harm/instructions",
    "self-harm",
    "sexual/minors",
    "violence",
    "violence/graphic",
)

TO_OPENAI: dict[Category, tuple[str, ...]] = {
    Category.VIOLENT_CRIMES: ("violence", "illicit", "illicit/violent"),
    Category.NON_VIOLENT_CRIMES: ("illicit",),
    Category.SEX_CRIMES: ("sexual", "illicit"),
    Category.CHILD_EXPLOITATION: ("sexual", "sexual/minors"),
    Category.DEFAMATION: ("harassment",),
    Category.SPECIALIZED_ADVICE: (),
    Category.PRIVACY: ("harassment", "illicit"),
    Category.INTELLECTUAL_PROPERTY: ("illicit",),
    Category.INDISCRIMINATE_WEAPONS: ("illicit", "illicit/violent"),
    Category.HATE: ("hate", "harassment"),
    Category.SELF_HARM: ("self-harm",),
    Category.SEXUAL_CONTENT: ("sexual",),
    Category.ELECTIONS: ("illicit",),
    Category.CODE_ABUSE: ("illicit",),
    Category.PROMPT_INJECTION: (),
}
"""Hazard category → the OpenAI categories that its score counts for.

The finer ones (`hate/threatening`, `harassment/threatening`, `violence/graphic`,
`self-harm/intent`, `self-harm/instructions`) need more than a category: the rules in
`data/rules.toml` that can tell them apart name them in `moderation`.
"""
