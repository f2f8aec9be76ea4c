"""Sums, products, and small problems in words: the last number of the answer counts."""

from __future__ import annotations

import random
import re

from inference.bench.quality.case import Case

_SEED = 15
_EACH = 6
_PROBLEMS = (
    ("A train leaves at 14:35 and arrives at 17:10. How many minutes does it take?", 155),
    ("Three pens cost 4 euros and 50 cents. How many cents do seven pens cost?", 1050),
    ("Ana has 24 apples, gives a third away and eats two. How many are left?", 14),
    ("A rectangle is 12 cm long and 7 cm wide. What is its area in square centimetres?", 84),
    ("A shirt of 80 euros is sold for 25 % less. What does it cost in euros?", 60),
    ("How many hours are there in a week?", 168),
    ("A car uses 6 litres for 100 km. How many litres does it use for 350 km?", 21),
    ("What is the average of 12, 18 and 33?", 21),
)


def cases() -> list[Case]:
    return [*_sums(), *(_case(text, right) for text, right in _PROBLEMS)]


def _sums() -> list[Case]:
    rng = random.Random(_SEED)
    made = []
    for _ in range(_EACH):
        a, b = rng.randint(100, 999), rng.randint(100, 999)
        c, d = rng.randint(11, 99), rng.randint(3, 12)
        made += [
            _case(f"What is {a} + {b}?", a + b),
            _case(f"What is {a + b} - {b}?", a),
            _case(f"What is {c} * {d}?", c * d),
            _case(f"What is {c * d} / {d}?", c),
        ]
    return made


def _case(prompt: str, right: int) -> Case:
    return Case(f"{prompt} End with the number alone.", lambda text: last_number(text) == right)


def last_number(text: str) -> float | None:
    """The last number in the text, without the commas between thousands."""
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?", text)
    return float(found[-1].replace(",", "")) if found else None
