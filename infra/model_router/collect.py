"""Who answers what right: every prompt asked of the small and of the large model.

Greedily, at most 160 tokens, as a turn of the page would be asked: no instructions but the prompt.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import msgspec

from inference.bench.engine import served
from infra.model_router.prompts import Prompt, prompts

ANSWERS = Path(__file__).with_name("answers.json")
_MAX_TOKENS = 160
_PARALLEL = 16


class Answer(msgspec.Struct, frozen=True):
    """What came of one prompt at one model."""

    is_right: bool
    output_tokens: int


class Answered(msgspec.Struct, frozen=True):
    """One prompt at both."""

    kind: str
    text: str
    input_tokens: int
    small: Answer
    large: Answer


def collect(small: Path, large: Path) -> list[Answered]:
    """Ask both models, one after the other.

    Args:
        small, large: weight files that our engine serves.
    """
    asked = prompts()
    of_small = list(_answers(small, asked))
    of_large = list(_answers(large, asked))
    return [
        Answered(prompt.kind, prompt.text, tokens, by_small, by_large)
        for prompt, (tokens, by_small), (_, by_large) in zip(asked, of_small, of_large, strict=True)
    ]


def read() -> list[Answered]:
    """What is kept."""
    return msgspec.json.decode(ANSWERS.read_bytes(), type=list[Answered])


def keep(answered: list[Answered]) -> None:
    """One line each, so that a difference can be read."""
    lines = ",\n".join(msgspec.json.encode(one).decode() for one in answered)
    ANSWERS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _answers(model: Path, asked: list[Prompt]) -> Iterator[tuple[int, Answer]]:
    """The tokens of each prompt, and its answer."""
    with (
        served(model, ("--int8-activations",)) as url,
        httpx.Client(base_url=url, timeout=1_800) as http,
        ThreadPoolExecutor(_PARALLEL) as pool,
    ):

        def answer(prompt: Prompt) -> tuple[int, Answer]:
            body = {
                "messages": [{"role": "user", "content": prompt.text}],
                "temperature": 0,
                "max_tokens": _MAX_TOKENS,
            }
            response = http.post("/v1/chat/completions", json=body)
            response.raise_for_status()
            whole = response.json()
            text = whole["choices"][0]["message"]["content"] or ""
            usage = whole["usage"]
            return usage["prompt_tokens"], Answer(
                prompt.is_right(text.strip()), usage["completion_tokens"]
            )

        yield from pool.map(answer, asked)
