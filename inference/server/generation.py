"""From a validated request to text deltas: one or several sequences, merged as they come."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from inference.core import FinishReason, SamplingParams, TokenLogprobs
from inference.errors import InvalidRequestError
from inference.protocol import AddRequest, SequenceOutput
from inference.server.schemas import GenerationFields
from inference.server.state import ServerState
from inference.server.structured import to_grammar
from inference.text.detokenizer import StreamingDetokenizer
from inference.text.generation_config import ChatDefaults
from inference.text.loops import Loop, LoopDetector
from inference.text.stop_strings import StopStrings

_SHARED_FIELDS = [
    name for name in SamplingParams.__struct_fields__ if name in GenerationFields.__struct_fields__
]


@dataclass(frozen=True)
class TokenInfo:
    """One token whose text was released, with its log probabilities."""

    token_id: int
    begin: int
    """Where its text begins and ends in the choice's text, in characters."""
    end: int
    logprobs: TokenLogprobs


@dataclass(frozen=True)
class Delta:
    """What one step gave one choice. `generated` counts all its tokens so far."""

    index: int
    text: str
    generated: int
    cached_tokens: int
    tokens: tuple[TokenInfo, ...] = ()
    finish_reason: FinishReason | None = None
    loop: Loop | None = None
    """Of reason `LOOP`: what the answer repeats."""

    def finish_fields(self) -> dict[str, Any]:
        """`finish_reason` as OpenAI has it. Of a loop it is `length`, which says that the answer is
        not complete, and `finish_details` says why; other answers have no such field."""
        if self.loop is None:
            return {"finish_reason": self.finish_reason}
        details = {
            "type": FinishReason.LOOP,
            "cycle_tokens": self.loop.period,
            "repeats": self.loop.repeats,
        }
        return {"finish_reason": FinishReason.LENGTH, "finish_details": details}


def joined(index: int, last: Delta | None, text: str, tokens: list[TokenInfo]) -> Delta:
    """All deltas of a choice as one, which ends as its `last` did."""
    if last is None:
        return Delta(index, text, 0, 0, tuple(tokens))
    return replace(last, index=index, text=text, tokens=tuple(tokens))


@dataclass(frozen=True)
class Asked:
    """What loop detection knows of a request before its answer begins."""

    text: str
    """What the user wrote."""
    partial: tuple[int, ...] = ()
    """The prompt's last tokens where they are an answer that is continued."""


@dataclass(frozen=True)
class PreparedPrompt:
    """One prompt of a body, checked and tokenized, and how each of its sequences is sampled."""

    prompt_token_ids: list[int]
    sampling: SamplingParams
    stops: tuple[str, ...]
    skip_special_tokens: bool
    priority: int
    cache_salt: str
    timeout_s: float | None = None
    asked: Asked | None = None
    """Its answer ends when it has gone into a loop; None: it does not."""
    shown_tokens: frozenset[int] = frozenset()
    """Special tokens that are part of the text."""


@dataclass(frozen=True)
class Structure:
    """What the answers of a body must follow.

    Attributes:
        param: the field that asks for it.
        prefix: tokens of it that the prompt ends with.
        shown_tokens: special tokens that its grammar names.
    """

    grammar: str = ""
    param: str = ""
    prefix: tuple[int, ...] = ()
    shown_tokens: frozenset[int] = frozenset()


async def prepare_prompts(
    state: ServerState,
    body: GenerationFields,
    prompts: list[list[int]],
    *,
    max_tokens: int | None,
    max_tokens_param: str,
    logprobs: int | None,
    prompt_param: str,
    asked: Asked | None,
    defaults: ChatDefaults | None = None,
    structure: Structure | None = None,
) -> list[PreparedPrompt]:
    """Turn a body and its prompts into what is run, refusing what cannot be honoured.

    Args:
        asked: for loop detection; None switches it off.
        defaults: for sampling parameters that the body does not name.
        structure: of the answers; None: what the body asks for.
    Raises:
        InvalidRequestError: naming the parameter.
        ContextLengthError: when a prompt and its answer do not fit the model.
    """
    structure = structure or await structure_of(state, body)
    _check_ends(state, body, structure)
    sampling = _sampling(state, body, structure, logprobs, defaults or {})
    stops = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ())
    prepared = []
    for token_ids in prompts:
        if not token_ids:
            raise InvalidRequestError("the prompt is empty", param=prompt_param)
        state.check_token_ids(token_ids, prompt_param)
        param = max_tokens_param if max_tokens is not None else prompt_param
        allowed = state.tokens_left(len(token_ids), max_tokens, param)
        if sampling.min_tokens > allowed:
            raise InvalidRequestError(
                f"min_tokens {sampling.min_tokens} is more than the {allowed} allowed",
                param="min_tokens",
            )
        seed = secrets.randbits(63) if body.seed is None else body.seed & (2**63 - 1)
        prompt = PreparedPrompt(
            token_ids,
            msgspec.structs.replace(sampling, max_tokens=allowed, seed=seed),
            stops,
            body.skip_special_tokens,
            body.priority,
            body.cache_salt or "",
            body.timeout_s,
            asked,
            structure.shown_tokens,
        )
        prepared.append(prompt)
    return prepared


async def structure_of(
    state: ServerState, body: GenerationFields, prefix: tuple[int, ...] = ()
) -> Structure:
    """The structured output that a body asks for, once for all its prompts."""
    asked = (body.response_format, body.guided_regex, body.guided_choice)
    if asked == (None, None, None):
        return Structure()
    param, grammar = await state.off_loop(to_grammar, *asked)
    return Structure(grammar, param, prefix if grammar else ())


def _check_ends(state: ServerState, body: GenerationFields, structure: Structure) -> None:
    if not structure.grammar:
        return
    if not state.model_info.eos_token_ids:
        raise InvalidRequestError(
            "this model has no token that ends an answer, so structured output would not end",
            param=structure.param,
        )
    if body.min_tokens or body.ignore_eos:
        raise InvalidRequestError(
            "structured output ends when it is complete",
            param="min_tokens" if body.min_tokens else "ignore_eos",
        )


def _sampling(
    state: ServerState,
    body: GenerationFields,
    structure: Structure,
    logprobs: int | None,
    defaults: ChatDefaults,
) -> SamplingParams:
    """What all prompts of a body share; `max_tokens` and `seed` are each one's own.

    What the sampler takes as it is sent passes by its name; what is not sent has its default, the
    model's own where it has one.
    """
    stop_token_ids = body.stop_token_ids or []
    state.check_token_ids(stop_token_ids, "stop_token_ids")
    named = {name: getattr(body, name) for name in _SHARED_FIELDS}
    sent = {name: value for name, value in named.items() if value is not None}
    shared = {**defaults, **sent}
    ours = {
        "max_tokens": 0,
        "seed": 0,
        "top_k": max(0, shared.get("top_k", 0)),
        "logit_bias": _logit_bias(state, body.logit_bias or {}),
        "stop_token_ids": tuple(stop_token_ids),
        "logprobs": logprobs,
        "grammar": structure.grammar,
        "grammar_prefix": structure.prefix,
    }
    return SamplingParams(**{**shared, **ours})


def _logit_bias(state: ServerState, raw: dict[str, float]) -> dict[int, float]:
    try:
        bias = {int(token): value for token, value in raw.items()}
    except ValueError as error:
        raise InvalidRequestError("its keys must be token ids", param="logit_bias") from error
    if any(token < 0 for token in bias):
        raise InvalidRequestError("its keys must be token ids", param="logit_bias")
    state.check_token_ids(list(bias), "logit_bias")
    return bias


async def run_prompts(
    state: ServerState, request_id: str, prepared: list[PreparedPrompt], n: int
) -> AsyncGenerator[Delta, None]:
    """Run every prompt `n` times and yield deltas as they come; choice = prompt * n + i.

    Closing the generator aborts every sequence still running.
    """
    choices = [
        _run_choice(state, f"{request_id}-{index}", index, _nth(prepared[index // n], index % n))
        for index in range(len(prepared) * n)
    ]
    if len(choices) == 1:
        async with aclosing(choices[0]) as deltas:
            async for delta in deltas:
                yield delta
        return
    queue: asyncio.Queue[Delta | BaseException | None] = asyncio.Queue()
    tasks = [asyncio.create_task(_pump(choice, queue)) for choice in choices]
    try:
        left = len(tasks)
        while left:
            item = await queue.get()
            if item is None:
                left -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _nth(prompt: PreparedPrompt, i: int) -> PreparedPrompt:
    """The prompt of the i-th of n choices: the same but for its random numbers."""
    if i == 0:
        return prompt
    seed = (prompt.sampling.seed + i * 0x9E3779B97F4A7C15) & (2**63 - 1)
    return replace(prompt, sampling=msgspec.structs.replace(prompt.sampling, seed=seed))


async def _pump(
    choice: AsyncGenerator[Delta, None], queue: asyncio.Queue[Delta | BaseException | None]
) -> None:
    try:
        async with aclosing(choice) as deltas:
            async for delta in deltas:
                queue.put_nowait(delta)
        queue.put_nowait(None)
    except Exception as error:
        queue.put_nowait(error)


async def _run_choice(
    state: ServerState, request_id: str, index: int, prompt: PreparedPrompt
) -> AsyncGenerator[Delta, None]:
    timer = state.metrics.start(len(prompt.prompt_token_ids))
    now = time.monotonic()
    request = AddRequest(
        request_id=request_id,
        prompt_token_ids=prompt.prompt_token_ids,
        sampling=prompt.sampling,
        priority=prompt.priority,
        arrived_at=now,
        cache_salt=prompt.cache_salt,
        deadline=None if prompt.timeout_s is None else now + prompt.timeout_s,
    )
    text = ChoiceText(state, index, prompt)
    reason = FinishReason.ABORT
    try:
        async with aclosing(state.engine.generate(request)) as outputs:
            async for output in outputs:
                timer.tokens(len(output.new_token_ids))
                delta = text.take(output)
                if delta.finish_reason is not None:
                    reason = delta.finish_reason
                yield delta
                if delta.finish_reason is not None:
                    return
    finally:
        timer.finished(reason)


@dataclass
class ChoiceText:
    """Text of one choice so far: detokenized, checked for stop strings and loops, counted."""

    state: ServerState
    index: int
    prompt: PreparedPrompt
    generated: int = 0
    _decoded: int = 0
    _released: int = 0
    _pending: list[TokenInfo] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._detokenizer = StreamingDetokenizer(
            self.state.tokenizer,
            skip_special_tokens=self.prompt.skip_special_tokens,
            shown=self.prompt.shown_tokens,
        )
        self._stops = StopStrings(self.prompt.stops)
        self._text: list[str] = []
        self._loops: LoopDetector | None = None
        if self.prompt.asked is not None:
            self._loops = LoopDetector(self.prompt.asked.text, self.state.tokenizer.decode)
            self._loops.prime(self.prompt.asked.partial)

    def take(self, output: SequenceOutput) -> Delta:
        """Turn a step's tokens into a delta.

        Tokens after a stop string or the end of a loop are not counted. Log probabilities wait
        until all their token's text is released, so they never show a part of a stop string.
        """
        released, reason = "", output.finish_reason
        for position, token_id in enumerate(output.new_token_ids):
            self.generated += 1
            decoded = self._detokenizer.feed(token_id)
            begin, self._decoded = self._decoded, self._decoded + len(decoded)
            if output.logprobs:
                values = output.logprobs[position]
                # Bytes of a character that is not whole yet belong to the next one of the text.
                end = self._decoded + self._detokenizer.is_inside_character
                self._pending.append(TokenInfo(token_id, begin, end, values))
            text, stopped = self._check_stops(decoded)
            released += text
            if stopped:
                self._released += len(released)
                return self._delta(released, FinishReason.STOP, output)
            loop = self._check_loop(token_id, decoded)
            is_last = reason is not None and position == len(output.new_token_ids) - 1
            if loop is not None and not is_last:
                released += self._rest()
                self._released += len(released)
                return self._delta(released, FinishReason.LOOP, output, loop)
        if reason is not None:
            released += self._rest()
        self._released += len(released)
        return self._delta(released, reason, output)

    def _rest(self) -> str:
        """Text that was held back, now that no more comes."""
        text, stopped = self._stops.feed(self._detokenizer.finish())
        return text + ("" if stopped else self._stops.finish())

    def _check_loop(self, token_id: int, decoded: str) -> Loop | None:
        if self._loops is None:
            return None
        self._text.append(decoded)
        loop = self._loops.feed(token_id, lambda: "".join(self._text))
        return loop if self.generated >= self.prompt.sampling.min_tokens else None

    def _check_stops(self, decoded: str) -> tuple[str, bool]:
        if self.generated <= self.prompt.sampling.min_tokens:
            return decoded, False
        return self._stops.feed(decoded)

    def _delta(
        self,
        text: str,
        reason: FinishReason | None,
        output: SequenceOutput,
        loop: Loop | None = None,
    ) -> Delta:
        shown = [info for info in self._pending if info.end <= self._released]
        self._pending = self._pending[len(shown) :]
        cached = output.cached_tokens
        return Delta(self.index, text, self.generated, cached, tuple(shown), reason, loop)
