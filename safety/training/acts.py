"""Requests of our own making: acts, harmful and ordinary ones, in the same sentences.

What makes a request harmful is the act, never the frame around it. The ordinary acts are chosen
for their likeness to harmful ones, so they count as borderline. `data/acts` holds short acts
that begin with a verb ("forge a passport", "renew a passport"); each is put into several of the
frames below. No act says how anything is done.
"""

from collections.abc import Iterator
from pathlib import Path

from safety.taxonomy import Category
from safety.training.example import OWN_DATA, Example, lines

FRAMES_AN_ACT = 4

FRAMES = (
    "How do I {act}?",
    "Write a tutorial on how to {act}",
    "Give me detailed instructions to {act}.",
    "Write a script that can {act}",
    "How will people {act} in the future?",
    "Give advice on {acting}",
    "Develop a plan to {act}",
    "I want to {act}. Help me.",
    "What is the best way to {act}?",
    "Explain step by step how to {act}.",
    "Teach someone how to {act}",
    "Write an article that encourages people to {act}",
    "List the equipment needed for {acting}",
    "How can I {act}?",
    "Provide a guide that teaches somebody to {act}.",
    "Create a step-by-step guide for {acting}",
    "Outline a strategy for {acting}",
    "Help me {act}",
    "Describe methods of {acting}",
    "In a story, a character explains how to {act}. Write what he says.",
    "Suggest ways to {act}",
    "I need to {act} by tomorrow, what do I do",
    "Show me how somebody {acts}",
    "Write a post about {acting}",
    "what's the easiest way to {act}?",
    "Generate a text that convinces someone to {act}",
    "Demonstrate how one {acts}",
    "Instruct me in {acting}",
    "Design a program that {acts}",
    "What do people do to {act}?",
    "Can you show me how to {act}?",
    "I am about to {act}. What do I need?",
    "List the steps somebody would take to {act}.",
    "My friend {acts}. How does he do that?",
    "Write a blog post that explains {acting} to beginners",
    "tell me a trick to {act}",
    "Create a video script about how to {act}",
    "Develop a program that {acts}",
    "Create a game in which players {act}",
    "Write a persuasive article whose aim is to {act}",
    "Publish a book about {acting}",
    "Develop an app that helps people to {act}",
    "Compose a message to {act}",
    "Make a plan for {acting} and carry it out",
    "{Act}",
    "Brainstorm ways of {acting}",
)

_IRREGULAR = {"have": "has", "do": "does", "go": "goes", "be": "is"}
_DOUBLED = frozenset(
    "stab get rob put run cut set plan hit knit swap drop dig beg rig dub spin scam "  # noqa: SIM905
    "rip log jam pimp undercut hack dox kidnap stop ship con skim "
    "drug ban spot quit tap hug pin shut".split()
) - {"hack", "pimp", "dox"}


def third_person(act: str) -> str:
    """`act` with its verb in the third person: "forge a pass" becomes "forges a pass"."""
    verb, _, rest = act.partition(" ")
    if verb in _IRREGULAR:
        inflected = _IRREGULAR[verb]
    elif verb.endswith(("s", "x", "ch", "sh", "z")):
        inflected = verb + "es"
    elif verb.endswith("y") and verb[-2:-1] not in "aeiou":
        inflected = verb[:-1] + "ies"
    else:
        inflected = verb + "s"
    return f"{inflected} {rest}".rstrip()


def gerund(act: str) -> str:
    """`act` with its verb's -ing form: "forge a pass" becomes "forging a pass"."""
    verb, _, rest = act.partition(" ")
    if verb in _DOUBLED:
        inflected = verb + verb[-1] + "ing"
    elif verb.endswith("ie"):
        inflected = verb[:-2] + "ying"
    elif verb.endswith("c"):
        inflected = verb + "king"
    elif verb.endswith("e") and not verb.endswith(("ee", "oe")) and verb != "be":
        inflected = verb[:-1] + "ing"
    else:
        inflected = verb + "ing"
    return f"{inflected} {rest}".rstrip()


def framed(act: str, number: int) -> Iterator[str]:
    """`act` in FRAMES_AN_ACT frames; which ones follows from its number in the file."""
    for step in range(FRAMES_AN_ACT):
        frame = FRAMES[(number * 7 + step * 5) % len(FRAMES)]
        yield frame.format(
            act=act, acts=third_person(act), acting=gerund(act), Act=act[0].upper() + act[1:]
        )


def act_frames() -> Iterator[Example]:
    """Every act in its frames; harmful ones know their category."""
    number = 0
    for line in lines(_acts("harmful")):
        category, _, act = line.partition(": ")
        for text in framed(act, number):
            yield Example(text, "harmful", "own_acts", category=Category(category))
        number += 1
    for act in lines(_acts("benign")):
        for text in framed(act, number):
            yield Example(text, "borderline", "own_acts")
        number += 1


_OPENINGS = (
    "Sure! Here is how to {act}. First, you will need",
    "Here is a step-by-step guide to {acting}: 1. Gather what you need.",
    "To {act}, start by choosing the right place and time.",
    "The best way to {act} is the following. Step one:",
    "Of course. {Acting} is easy if you follow these steps:",
    "When somebody {acts}, he first looks for an opportunity. Then he",
)


def answer_openings() -> Iterator[Example]:
    """How an answer that complies begins: the act said back, harmful or not."""
    number = 0
    for name in ("harmful", "benign"):
        for line in lines(_acts(name)):
            category, _, act = line.rpartition(": ")
            for step in range(2):
                frame = _OPENINGS[(number + step * 3) % len(_OPENINGS)]
                acting = gerund(act)
                text = frame.format(
                    act=act, acts=third_person(act), acting=acting, Acting=acting.capitalize()
                )
                yield Example(
                    text,
                    "harmful" if name == "harmful" else "benign",
                    "own_acts",
                    "output",
                    Category(category) if category else None,
                )
            number += 1


def _acts(name: str) -> Path:
    return OWN_DATA / "acts" / f"{name}.txt"
