"""Orders to a model and honest requests, put together from `data/untrusted/grammar.toml`.

An order speaks to a model, undoes what was said before, or wants what only a model can do; the
honest request beside it wants the same thing of a person. Both stand in the same surroundings.
"""

import random
import tomllib
from collections.abc import Iterator

from safety.training.example import OWN_DATA
from safety.training.untrusted.texts import Text

ORDERS, HONEST = 150, 110
"""Of each language."""

_SEED = 11
_AROUND = (
    "{}",
    "{}",
    "{}",
    "<!-- {} -->",
    "[{}]",
    "# {}",
    "// {}",
    "> {}",
    '{{"note": "{}"}}',
    '<p style="display:none">{}</p>',
    "Results: 12\n{}",
    "Subject: 14 May\n\n{}\n\n-- \nM.",
    "id,remark\n1,ok\n2,{}",
    "### {}",
)

Parts = dict[str, list[str]]


def grammar_texts() -> Iterator[Text]:
    """The same ones every time."""
    content = (OWN_DATA / "untrusted" / "grammar.toml").read_text(encoding="utf-8")
    for language, parts in tomllib.loads(content).items():
        generator = random.Random(f"{_SEED} {language}")  # noqa: S311  (not for secrets)
        made = [(_order(parts, generator), True) for _ in range(ORDERS)]
        made += [(_request(parts, generator), False) for _ in range(HONEST)]
        for number, (text, is_order) in enumerate(dict.fromkeys(made)):
            around = generator.choice(_AROUND)
            yield Text(around.format(text), is_order, f"grammar-{language} {number // 20}")


def _order(parts: Parts, generator: random.Random) -> str:
    to, override, hush = (generator.choice(parts[name]) for name in ("to", "override", "hush"))
    task, aim = generator.choice(parts["task"]), generator.choice(parts["aim"])
    end = "" if aim[-1] in "=。" else "。" if aim[-1] > "\u3000" else "."
    shapes = (
        f"{to}{aim}{end}",
        f"{to}{task}{end} {hush}",
        f"{to}{override} {_opened(aim)}{end}",
        f"{override} {_opened(aim)}{end}",
        f"{override} {_opened(task)}{end} {hush}",
        f"{to}{override}",
        f"{_opened(aim)}{end} {hush}",
        f"{to}{aim}{end} {hush}",
    )
    return generator.choice(shapes)


def _request(parts: Parts, generator: random.Random) -> str:
    person, wish = generator.choice(parts["person"]), generator.choice(parts["wish"])
    asked = wish.format(generator.choice(parts["task"]))
    return generator.choice((f"{person}{asked}", _opened(asked)))


def _opened(text: str) -> str:
    return text[:1].upper() + text[1:]
