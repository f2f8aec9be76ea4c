"""A guard model for the uncertain band: Llama Guard's prompt, its verdict, over any pool.

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
            GuardFailed: no verdict could be had.
        """


class LlamaGuard:
    """Asks a model behind an OpenAI-compatible `/v1/chat/completions`, which applies its own
    chat template (that of Llama Guard lists the categories).

    Args:
        base_url: of the engine, without `/v1`.
        timeout_s: for the whole answer; the caller treats lateness as a failure.
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
            return parse_verdict(answer["choices"][0]["message"]["content"])
        except (httpx.HTTPError, KeyError, IndexError, TypeError, ValueError) as error:
            raise GuardFailed(f"No verdict from {self._model}: {error}") from error


def parse_verdict(text: str) -> frozenset[Category]:
    """The categories in a verdict: `safe`, or `unsafe` and a line such as `S1,S9`.

    Raises:
        ValueError: it is neither.
    """
    lines = text.strip().lower().splitlines()
    if lines[:1] == ["safe"]:
        return frozenset()
    if lines[:1] != ["unsafe"]:
        raise ValueError(f"not a verdict: {text[:40]!r}")
    codes = {code.strip().upper() for line in lines[1:] for code in line.split(",")}
    known = frozenset(LLAMA_GUARD_CODES[code] for code in codes if code in LLAMA_GUARD_CODES)
    return known or frozenset({Category.VIOLENT_CRIMES})
