"""Structured output: which tokens a grammar allows next, by llguidance.

A matcher belongs to one sequence and is fed the tokens that were chosen since it was last
asked, so preemption and recomputation do not concern it. Along a draft it goes ahead for the masks
of each token, and back. Masks are computed in a thread of their own while the model computes the
logits that they are for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
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


@dataclass
class _Walk:
    """A matcher on its way along the draft of its request."""

    matcher: LLMatcher
    row: int
    """Of what may follow the tokens that are known; those of the draft are the next ones."""
    draft: tuple[int, ...] = ()
    taken: int = 0

    @property
    def is_open(self) -> bool:
        """Whether the grammar has not ended; it has too where it does not allow what was said."""
        return not self.matcher.is_stopped() and not self.matcher.is_error()

    def advance(self) -> bool:
        """Take the draft's next token; False where there is none, or none that text can follow."""
        if self.taken == len(self.draft):
            return False
        if not self.matcher.try_consume_tokens([self.draft[self.taken]]):
            return False
        self.taken += 1
        return self.is_open


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

    def prepare(self, rows: Sequence[tuple[Request, tuple[int, ...]]]) -> None:
        """Begin to find what the grammars of these allow next, beside the forward pass: it depends
        on the tokens so far alone. Their tokens must not change before `restrict`.

        Args:
            rows: a request and what follows its known tokens; first nothing, then its draft up to
                each of its tokens.
        """
        self._masks = self._worker.submit(self._forbidden, rows) if rows else None

    def forced(self, asked: Sequence[tuple[Request, int]]) -> list[list[int]]:
        """For each request with a grammar at most so many tokens that it leaves no choice about:
        canonical ones, up to the end where the grammar ends with them. The last of them may be
        another one, if the model prefers a longer one that goes on beyond what is forced."""

        def drafts() -> list[list[int]]:
            return [self._forced(request, count)[:count] for request, count in asked]

        # In the thread of the masks: a step that failed may have left it with a matcher.
        return self._worker.submit(drafts).result()

    def restrict(self, logits: Tensor, rows: Sequence[int]) -> None:
        """Make everything impossible that the grammars forbid, in place.

        Args:
            logits: (R, vocab).
            rows: those that were prepared. Where a grammar is complete only the end is left.
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

    def _forbidden(self, rows: Sequence[tuple[Request, tuple[int, ...]]]) -> NDArray[np.bool_]:
        """(rows, vocab): whether a token is forbidden."""
        bits = allocate_token_bitmask(len(rows), self._tokenizer.vocab_size)
        bits[:] = 0
        for token in self._eos:  # what is left where no matcher comes to
            bits.view(np.uint8)[:, token // 8] |= 1 << token % 8
        walks: dict[Request, _Walk] = {}
        for row, (request, draft) in enumerate(rows):
            if request not in walks:
                walks[request] = _Walk(self._follow(request), row)
            walks[request].draft = draft
        going = [walk for walk in walks.values() if walk.is_open]
        while going:
            places = [(walk.matcher, walk.row + walk.taken) for walk in going]
            fill_next_token_bitmask_par(self._threads, places, bits)
            going = [walk for walk in going if walk.advance()]
        for request, walk in walks.items():
            self._go_back(request, walk.matcher, walk.taken)
        bytes_of_rows = (~bits).view(np.uint8)
        forbidden = np.unpackbits(bytes_of_rows, axis=1, bitorder="little")
        return forbidden[:, : self._vocab_size].view(np.bool_)

    def _forced(self, request: Request, count: int) -> list[int]:
        matcher = self._follow(request)
        tokens = matcher.compute_ff_tokens()
        taken = matcher.try_consume_tokens(tokens)
        # The rest may be the beginning of a longer token; mostly it is one of its own.
        rest = self._tokenizer.tokenize_bytes(matcher.compute_ff_bytes())
        taken += matcher.try_consume_tokens(rest)
        tokens += rest
        if tokens and matcher.is_stopped():
            tokens.append(self._eos[-1])  # of several the one that ends a turn, mostly
        self._go_back(request, matcher, taken)
        return tokens

    def _follow(self, request: Request) -> LLMatcher:
        """The request's matcher, with all of its tokens that are known."""
        matcher, consumed = self._matchers.get(request) or (self._new(request), 0)
        new = request.token_ids[len(request.prompt_token_ids) + consumed :]
        matcher.consume_tokens(new)
        self._matchers[request] = (matcher, consumed + len(new))
        return matcher

    def _go_back(self, request: Request, matcher: LLMatcher, taken: int) -> None:
        """As if a draft's tokens had not been taken; a matcher that cannot is made anew."""
        if taken and not matcher.rollback(taken):
            del self._matchers[request]

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
