"""Structured output: which tokens a grammar allows next, by llguidance.

A matcher belongs to one sequence and is fed the tokens that were chosen since it was last
asked, so preemption and recomputation do not concern it. Masks are computed in a thread of their
own while the model computes the logits that they are for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import torch
from llguidance import LLExecutor, LLMatcher, LLTokenizer
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask_par
from numpy.typing import NDArray
from torch import Tensor

from inference.core import Request
from inference.text.tokenizer import TextTokenizer

MAX_COMPILED = 32
"""Grammars that are kept for further sequences."""
_CPUS_A_THREAD = 4


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
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="grammar")
        self._masks: Future[NDArray[np.bool_]] | None = None
        self._matchers: WeakKeyDictionary[Request, tuple[LLMatcher, int]] = WeakKeyDictionary()

    def prepare(self, requests: Sequence[Request]) -> None:
        """Begin to find what the grammars of these allow next, beside the forward pass: it depends
        on the tokens so far alone. Their tokens must not change before `restrict`."""
        self._masks = self._worker.submit(self._forbidden, requests) if requests else None

    def restrict(self, logits: Tensor, rows: Sequence[int]) -> None:
        """Make everything impossible that the grammars forbid, in place.

        Args:
            logits: (R, vocab).
            rows: that of each request that was prepared. Of one whose grammar is complete only the
                end is left.
        Raises:
            ValueError: a grammar cannot be compiled; the server checks that before.
        """
        if self._masks is None:
            return
        forbidden = self._masks.result()
        self._masks = None
        if logits.device.type == "cpu":
            # Torch would wake its threads for each row, which costs more than the row.
            values = logits.numpy()
            for row, mask in zip(rows, forbidden, strict=True):
                np.copyto(values[row], -np.inf, where=mask)
            return
        masks = torch.from_numpy(forbidden).to(logits.device)
        for row, mask in zip(rows, masks, strict=True):
            logits[row].masked_fill_(mask, -torch.inf)

    def _forbidden(self, requests: Sequence[Request]) -> NDArray[np.bool_]:
        """(requests, vocab): whether a token is forbidden."""
        bits = allocate_token_bitmask(len(requests), self._tokenizer.vocab_size)
        going: list[tuple[LLMatcher, int]] = []
        for row, request in enumerate(requests):
            matcher, consumed = self._matchers.get(request) or (self._new(request), 0)
            new = request.token_ids[len(request.prompt_token_ids) + consumed :]
            matcher.consume_tokens(new)
            self._matchers[request] = (matcher, consumed + len(new))
            # A prefix that the grammar does not allow leaves nothing to be said, as its end does.
            if matcher.is_stopped() or matcher.is_error():
                bits[row] = 0
                for token in self._eos:
                    bits.view(np.uint8)[row, token // 8] |= 1 << token % 8
            else:
                going.append((matcher, row))
        if going:
            fill_next_token_bitmask_par(self._threads, going, bits)
        bytes_of_rows = (~bits).view(np.uint8)
        forbidden = np.unpackbits(bytes_of_rows, axis=1, bitorder="little")
        return forbidden[:, : self._vocab_size].view(np.bool_)

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
    def _threads(self) -> LLExecutor:
        """Few: the forward pass has the others."""
        return LLExecutor(max(1, (os.cpu_count() or 1) // _CPUS_A_THREAD))

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
