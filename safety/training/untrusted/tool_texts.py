"""What servers say of their tools: AgentDojo's, which no training has read, and the red team's
attacks by a description. Both are out of pinned wheels, which are fetched on first use."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from safety.training.packages import INSPECT_EVALS
from safety.training.redteam.attacks import attacks

_ATTACKS, _SEED = 286, 6

Tools = tuple[str, list[Mapping[str, Any]]]


def tool_corpora() -> Iterator[Tools]:
    """Functions of tools in OpenAI's shape, by whose they are."""
    yield "honest: tools (AgentDojo)", list(_honest())
    yield "attacks by a tool's description (red team)", list(_hostile())


def _honest() -> Iterator[Mapping[str, Any]]:
    """Each function that `@tool` marks, by its name and what the function that it hands on says of
    itself: Inspect shows both to the model."""
    for member in INSPECT_EVALS.members("inspect_evals/agentdojo/tools/", ".py"):
        for node in ast.walk(ast.parse(INSPECT_EVALS.read(member))):
            if isinstance(node, ast.FunctionDef) and "tool" in map(
                ast.unparse, node.decorator_list
            ):
                [shown] = [one for one in node.body if isinstance(one, ast.AsyncFunctionDef)]
                yield {"name": node.name, "description": ast.get_docstring(shown) or ""}


def _hostile() -> Iterator[Mapping[str, Any]]:
    for attack in attacks(_ATTACKS, seed=_SEED, from_outside=True):
        for tool in attack.tools:
            yield tool["function"]
