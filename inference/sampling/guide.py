"""Structured output: which tokens a grammar allows next, by llguidance.

A matcher belongs to one sequence and is fed the tokens that were chosen since it was last
asked, so preemption and recomputation do not concern it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import torch
from llguidance import LLMatcher, LLTokenizer
from torch import Tensor

from inference.core import Request
from inference.text.tokenizer import TextTokenizer

MAX_COMPILED = 32
"""Grammars that are kept for further sequences."""


class Guides:
    """The matchers of all sequences that follow a grammar."""

    def __init__(
        self,
        load_tokenizer: Callable[[], TextTokenizer],
        eos_token_ids: frozenset[int],
        vocab_size: int,
    ) -> None:
        self._load_tokenizer = load_tokenizer
        self._eos = sorted(eos_token_ids)
        self._vocab_size = vocab_size
        self._compiled: dict[str, LLMatcher] = {}
        """Matchers at their beginning, by grammar, the last used ones last."""
        self._matchers: WeakKeyDictionary[Request, tuple[LLMatcher, int]] = WeakKeyDictionary()

    def restrict(self, logits: Tensor, request: Request) -> None:
        """Make everything that the request's grammar forbids impossible, in place.

        Args:
            logits: (vocab,). Once the grammar is complete only the end is left.
        """
        matcher, consumed = self._matchers.get(request) or (self._new(request), 0)
        output = request.output_token_ids
        matcher.consume_tokens(output[consumed:])
        self._matchers[request] = (matcher, len(output))
        bits = np.frombuffer(matcher.compute_bitmask(), np.uint8)
        allowed = np.unpackbits(bits, bitorder="little")[: self._vocab_size].astype(bool)
        # A prefix that the grammar does not allow leaves nothing to be said, as its end does.
        if matcher.is_stopped():
            allowed[:] = False
            allowed[self._eos] = True
        logits[torch.from_numpy(~allowed).to(logits.device)] = -torch.inf

    def _new(self, request: Request) -> LLMatcher:
        """A matcher at its beginning. Each grammar is compiled once for all sequences that
        follow it: a large one takes some tenths of a second, between two steps.

        Raises:
            ValueError: when the grammar cannot be compiled; the server checks that before.
        """
        grammar = request.sampling.grammar
        compiled = self._compiled.pop(grammar, None) or LLMatcher(self._tokenizer, grammar)
        if compiled.is_error():
            raise ValueError(compiled.get_error())
        self._compiled[grammar] = compiled
        if len(self._compiled) > MAX_COMPILED:
            self._compiled.pop(next(iter(self._compiled)))
        matcher = compiled.deep_copy()
        matcher.consume_tokens(list(request.sampling.grammar_prefix))
        return matcher

    @cached_property
    def _tokenizer(self) -> LLTokenizer:
        """Built when the first grammar needs it: it takes a moment."""
        vocabulary = _Vocabulary(self._load_tokenizer(), self._eos, self._vocab_size)
        return LLTokenizer(vocabulary, eos_token=self._eos)  # type: ignore[arg-type]


class _Vocabulary:
    """What LLTokenizer asks of a tokenizer."""

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self, tokenizer: TextTokenizer, eos: list[int], vocab_size: int) -> None:
        self._tokenizer = tokenizer
        self.eos_token_id = eos[0]
        self.tokens = [tokenizer.token_bytes(token) for token in range(vocab_size)]
        self.special_token_ids = [i for i in range(vocab_size) if tokenizer.is_special(i)]

    def __call__(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False)
