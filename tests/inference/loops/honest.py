"""Answers that repeat themselves and are right to: none of them may ever be cut."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Honest:
    """What a user asked, and an answer to it."""

    name: str
    asked: str
    answer: str


def _code(language: str, body: str) -> str:
    return f"Here it is:\n\n```{language}\n{body}\n```\n\nThat is all."


_STANZAS = (
    "The night came down on hill and tree,",
    "The lamps went out along the quay,",
    "A child was singing by the door,",
    "The tide drew back across the shore,",
    "An owl flew over, soft and grey,",
    "And morning took the dark away,",
)
_REFRAIN = "Oh, carry me home, carry me home,\nOver the water, over the foam.\n"
_VERBS = ("wash", "peel", "slice", "salt", "fry", "drain", "plate", "serve")
_COLOURS = ("red", "orange", "yellow", "green", "blue", "indigo", "violet", "brown")
_TABLE_HEAD = "| Day | Morning | Evening |\n|-----|---------|---------|\n"

HONEST: tuple[Honest, ...] = (
    Honest(
        "numbers",
        "Count to three hundred.",
        "\n".join(str(i) for i in range(1, 301)),
    ),
    Honest(
        "numbered list",
        "List forty things to check.",
        "\n".join(f"{i}. Check the pressure of tyre {i} and write it down." for i in range(1, 41)),
    ),
    Honest(
        "bullets that begin alike",
        "How do I cook these vegetables?",
        "\n".join(
            f"- First you {verb} the {colour} ones, and then you wait for a minute."
            for verb in _VERBS
            for colour in _COLOURS
        ),
    ),
    Honest(
        "multiplication tables",
        "Write the multiplication tables from 1 to 12.",
        "\n".join(f"{a} x {b} = {a * b}" for a in range(1, 13) for b in range(1, 13)),
    ),
    Honest(
        "multiplication by zero",
        "Write the table of 0.",
        "\n".join(f"0 x {i} = 0" for i in range(101)),
    ),
    Honest(
        "table with one word in every cell",
        "Make a timetable of four weeks.",
        _TABLE_HEAD + "\n".join(f"| {day} | free | free |" for day in range(1, 29)),
    ),
    Honest(
        "empty table",
        "Give me a blank table with twenty rows to fill in.",
        _TABLE_HEAD + "|     |         |         |\n" * 20,
    ),
    Honest(
        "wide separator",
        "A table with forty columns?",
        "|" + " a |" * 40 + "\n|" + "---|" * 40 + "\n|" + " 1 |" * 40,
    ),
    Honest("rule of dashes", "Draw a line.", "-" * 400),
    Honest("rule of equals", "Separate the parts.", "Part 1\n" + "=" * 300 + "\nPart 2"),
    Honest("json zeros", "An array of 250 zeros, as JSON.", json.dumps([0] * 250)),
    Honest(
        "json objects",
        "Ten users as JSON.",
        json.dumps([{"name": "user", "active": True, "tags": []}] * 24, indent=2),
    ),
    Honest(
        "json objects with ids",
        "Fifty users as JSON.",
        json.dumps([{"id": i, "name": "user", "active": True} for i in range(50)], indent=2),
    ),
    Honest(
        "matrix",
        "A 16 by 16 zero matrix in Python.",
        _code("python", "m = [\n" + ("    [" + ", ".join(["0"] * 16) + "],\n") * 16 + "]"),
    ),
    Honest(
        "matrix in prose",
        "A 10 by 10 zero matrix.",
        "The matrix:\n\n" + ("0 0 0 0 0 0 0 0 0 0\n" * 10),
    ),
    Honest(
        "the same call in code",
        "Unroll the loop.",
        _code("c", "    value = next(value);\n" * 64),
    ),
    Honest(
        "inserts",
        "SQL for forty rows.",
        _code("sql", "\n".join(f"INSERT INTO t (id, name) VALUES ({i}, 'x');" for i in range(40))),
    ),
    Honest(
        "css classes",
        "Spacing helpers, please.",
        _code("css", "\n".join(f".m-{i} {{\n  margin: {i}px;\n}}\n" for i in range(40))),
    ),
    Honest(
        "closing brackets",
        "A deeply nested list.",
        _code("python", "[" * 120 + "]" * 120),
    ),
    Honest(
        "poem with a refrain",
        "Write a ballad with a refrain.",
        "\n".join(f"{line}\n{line.replace('The', 'And the')}\n{_REFRAIN}" for line in _STANZAS),
    ),
    Honest(
        "chorus three times",
        "Lyrics, with the chorus three times at the end.",
        "\n".join(_STANZAS) + "\n\n" + f"{_REFRAIN}\n" * 3,
    ),
    Honest(
        "la la la",
        "How does the tune go?",
        "It goes: " + "la, " * 50 + "la!",
    ),
    Honest("laughter", "Laugh.", "ha" * 100),
    Honest(
        "one word, fifty times",
        "Write the word poem fifty times.",
        "poem " * 50,
    ),
    Honest(
        "one word, 500 times",
        "Repeat the word banana 500 times.",
        "banana " * 500,
    ),
    Honest(
        "line, 50 times",
        "Repeat 'I will not talk in class' 50 times.",
        "I will not talk in class.\n" * 50,
    ),
    Honest(
        "line, a hundred times, in words",
        'Please write "The quick brown fox jumps over the lazy dog." a hundred times.',
        "The quick brown fox jumps over the lazy dog.\n" * 100,
    ),
    Honest(
        "line, in another language",
        "Schreibe 60 mal: Ich soll nicht schwätzen.",
        "Ich soll nicht schwätzen.\n" * 60,
    ),
    Honest(
        "what is not quoted, 80 times",
        "Print a greeting 80 times.",
        "Good morning to you all!\n" * 80,
    ),
    Honest(
        "numbered repetition",
        "Say thank you forty times and number it.",
        "\n".join(f"{i}. Thank you very much." for i in range(1, 41)),
    ),
    Honest(
        "calendar",
        "A plan for June: I rest every day.",
        "\n".join(f"June {day}: rest." for day in range(1, 31)),
    ),
    Honest(
        "bottles",
        "Sing ninety-nine bottles.",
        "\n".join(
            f"{i} bottles of beer on the wall, {i} bottles of beer.\n"
            f"Take one down and pass it around, {i - 1} bottles of beer on the wall.\n"
            for i in range(60, 1, -1)
        ),
    ),
    Honest(
        "binary counting",
        "All bytes in binary.",
        "\n".join(f"{i:08b}" for i in range(256)),
    ),
    Honest("pi of a third", "One third to 200 places.", "0." + "3" * 200),
    Honest(
        "litany",
        "A litany with the same response.",
        "\n".join(
            f"For the {colour} of the {verb}ing hour,\nwe give thanks."
            for colour in _COLOURS
            for verb in _VERBS[:3]
        ),
    ),
    Honest(
        "dialogue of yes",
        "A dialogue in which one only says yes.",
        "\n".join(f"A: Is it {colour}?\nB: Yes." for colour in _COLOURS * 4),
    ),
    Honest(
        "test log",
        "What would the output be?",
        _code("", "\n".join(f"test_{i:03d} ... ok" for i in range(120))),
    ),
    Honest(
        "hex dump",
        "Show a page of zeros as hex.",
        _code("", "\n".join(f"{i * 16:08x}  " + "00 " * 16 for i in range(24))),
    ),
    Honest(
        "acceptance list",
        "A template of a checklist with 15 empty boxes.",
        "- [ ] \n" * 15,
    ),
)
