"""A guard model for the uncertain band: Llama Guard's prompt and answer, over any pool.

Optional and off by default: it costs a forward pass of a language model. Source of the format:
Inan et al. 2023, "Llama Guard", and the model card of Llama Guard 3.
"""

from collections.abc import Sequence
from typing import Protocol

import httpx

from safety.taxonomy import LLAMA_GUARD_CODES, Category
from safety.types import SafetyMessage


class GuardFailed(RuntimeError):
    """The guard model did not answer, or not in its format."""


class Guard(Protocol):
    def judge(self, messages: Sequence[SafetyMessage]) -> frozenset[Category]:
        """The categories that the conversation violates; empty when it is safe.

        Raises:
            GuardFailed: it gave no answer in its format.
        """


class LlamaGuard:
    """Asks a model behind an OpenAI-compatible `/v1/chat/completions`, which applies its own
    chat template (that of Llama Guard lists the categories).

    Args:
        base_url: of the engine, without `/v1`.
        timeout_s: for the whole answer; a timeout is a failure of the layer.
    """

    def __init__(self, base_url: str, model: str, *, api_key: str = "", timeout_s: float = 2.0):
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.Client(base_url=base_url, timeout=timeout_s, headers=headers)
        self._model = model

    def judge(self, messages: Sequence[SafetyMessage]) -> frozenset[Category]:
        """See `Guard.judge`."""
        body = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.text} for m in messages],
            "max_tokens": 24,
            "temperature": 0,
        }
        try:
            answer = self._client.post("/v1/chat/completions", json=body).raise_for_status().json()
            return parse_guard_answer(answer["choices"][0]["message"]["content"])
        except (httpx.HTTPError, KeyError, IndexError, TypeError, ValueError) as error:
            raise GuardFailed(f"{self._model} gave no answer in its format: {error}") from error


def parse_guard_answer(text: str) -> frozenset[Category]:
    """The categories in a guard's answer: `safe`, or `unsafe` and a line such as `S1,S9`.

    Raises:
        ValueError: it is neither.
    """
    lines = text.strip().lower().splitlines()
    if lines[:1] == ["safe"]:
        return frozenset()
    if lines[:1] != ["unsafe"]:
        raise ValueError(f"not an answer of a guard model: {text[:40]!r}")
    codes = {code.strip().upper() for line in lines[1:] for code in line.split(",")}
    known = frozenset(LLAMA_GUARD_CODES[code] for code in codes if code in LLAMA_GUARD_CODES)
    return known or frozenset({Category.VIOLENT_CRIMES})
