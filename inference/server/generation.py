"""From a validated request to text deltas: one or several sequences, merged as they come."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import msgspec

from inference.core import FinishReason, SamplingParams, TokenLogprobs
from inference.errors import InvalidRequestError
from inference.protocol import AddRequest, SequenceOutput
from inference.server.schemas import GenerationFields
from inference.server.state import ServerState
from inference.server.structured import to_grammar
from inference.text.detokenizer import StreamingDetokenizer
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


@dataclass(frozen=True)
class Plan:
    """A request made ready: one prompt, and how each of its sequences is sampled."""

    prompt_token_ids: list[int]
    sampling: SamplingParams
    stops: tuple[str, ...]
    skip_special_tokens: bool
    priority: int
    cache_salt: str
    timeout_s: float | None = None


async def make_plans(
    state: ServerState,
    body: GenerationFields,
    prompts: list[list[int]],
    *,
    max_tokens: int | None,
    max_tokens_param: str,
    logprobs: int | None,
    prompt_param: str,
) -> list[Plan]:
    """Turn a body and its prompts into what is run, refusing what cannot be honoured.

    Raises:
        InvalidRequestError: naming the parameter.
        ContextLengthError: when a prompt and its answer do not fit the model.
    """
    grammar = await _grammar(state, body)
    sampling = _sampling(state, body, grammar, logprobs)
    stops = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ())
    plans = []
    for prompt in prompts:
        if not prompt:
            raise InvalidRequestError("the prompt is empty", param=prompt_param)
        state.check_token_ids(prompt, prompt_param)
        param = max_tokens_param if max_tokens is not None else prompt_param
        allowed = state.tokens_left(len(prompt), max_tokens, param)
        if sampling.min_tokens > allowed:
            raise InvalidRequestError(
                f"min_tokens {sampling.min_tokens} is more than the {allowed} allowed",
                param="min_tokens",
            )
        seed = secrets.randbits(63) if body.seed is None else body.seed & (2**63 - 1)
        plan = Plan(
            prompt,
            msgspec.structs.replace(sampling, max_tokens=allowed, seed=seed),
            stops,
            body.skip_special_tokens,
            body.priority,
            body.cache_salt or "",
            body.timeout_s,
        )
        plans.append(plan)
    return plans


async def _grammar(state: ServerState, body: GenerationFields) -> str:
    """The grammar of structured output, once for all prompts of a body; empty for anything."""
    asked = (body.response_format, body.guided_regex, body.guided_choice)
    if asked == (None, None, None):
        return ""
    param, grammar = await state.off_loop(to_grammar, *asked)
    if not grammar:
        return ""
    if not state.model_info.eos_token_ids:
        raise InvalidRequestError(
            "this model has no token that ends an answer, so structured output would not end",
            param=param,
        )
    if body.min_tokens or body.ignore_eos:
        raise InvalidRequestError(
            "structured output ends when it is complete",
            param="min_tokens" if body.min_tokens else "ignore_eos",
        )
    return grammar


def _sampling(
    state: ServerState, body: GenerationFields, grammar: str, logprobs: int | None
) -> SamplingParams:
    """What all prompts of a body share; `max_tokens` and `seed` are each one's own.

    What the sampler takes as it is sent passes by its name; what is not sent has its default.
    """
    stop_token_ids = body.stop_token_ids or []
    state.check_token_ids(stop_token_ids, "stop_token_ids")
    named = {name: getattr(body, name) for name in _SHARED_FIELDS}
    shared = {name: value for name, value in named.items() if value is not None}
    ours = {
        "max_tokens": 0,
        "seed": 0,
        "top_k": max(0, body.top_k or 0),
        "logit_bias": _logit_bias(state, body.logit_bias or {}),
        "stop_token_ids": tuple(stop_token_ids),
        "logprobs": logprobs,
        "grammar": grammar,
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


async def run_plans(
    state: ServerState, request_id: str, plans: list[Plan], n: int
) -> AsyncGenerator[Delta, None]:
    """Run every plan `n` times and yield deltas as they come; choice = plan * n + i.

    Closing the generator aborts every sequence still running.
    """
    choices = [
        _run_choice(state, f"{request_id}-{index}", index, _nth(plans[index // n], index % n))
        for index in range(len(plans) * n)
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


def _nth(plan: Plan, i: int) -> Plan:
    """The plan of the i-th of n choices: the same but for its random numbers."""
    if i == 0:
        return plan
    seed = (plan.sampling.seed + i * 0x9E3779B97F4A7C15) & (2**63 - 1)
    return replace(plan, sampling=msgspec.structs.replace(plan.sampling, seed=seed))


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
    state: ServerState, request_id: str, index: int, plan: Plan
) -> AsyncGenerator[Delta, None]:
    timer = state.metrics.start(len(plan.prompt_token_ids))
    now = time.monotonic()
    request = AddRequest(
        request_id=request_id,
        prompt_token_ids=plan.prompt_token_ids,
        sampling=plan.sampling,
        priority=plan.priority,
        arrived_at=now,
        cache_salt=plan.cache_salt,
        deadline=None if plan.timeout_s is None else now + plan.timeout_s,
    )
    text = ChoiceText(state, index, plan)
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
    """Text of one choice so far: detokenized, checked for stop strings, counted."""

    state: ServerState
    index: int
    plan: Plan
    generated: int = 0
    _decoded: int = 0
    _released: int = 0
    _pending: list[TokenInfo] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._detokenizer = StreamingDetokenizer(
            self.state.tokenizer, skip_special_tokens=self.plan.skip_special_tokens
        )
        self._stops = StopStrings(self.plan.stops)

    def take(self, output: SequenceOutput) -> Delta:
        """Turn a step's tokens into a delta.

        Tokens after a stop string are not counted. Log probabilities wait until all
        their token's text is released, so they never show a part of a stop string.
        """
        released, reason = "", output.finish_reason
        for position, token_id in enumerate(output.new_token_ids):
            self.generated += 1
            piece = self._detokenizer.feed(token_id)
            begin, self._decoded = self._decoded, self._decoded + len(piece)
            if output.logprobs:
                values = output.logprobs[position]
                # Bytes of a character that is not whole yet belong to the next one of the text.
                end = self._decoded + self._detokenizer.is_inside_character
                self._pending.append(TokenInfo(token_id, begin, end, values))
            text, stopped = self._check_stops(piece)
            released += text
            if stopped:
                self._released += len(released)
                return self._delta(released, FinishReason.STOP, output)
        if reason is not None:
            text, stopped = self._stops.feed(self._detokenizer.finish())
            released += text + ("" if stopped else self._stops.finish())
        self._released += len(released)
        return self._delta(released, reason, output)

    def _check_stops(self, piece: str) -> tuple[str, bool]:
        if self.generated <= self.plan.sampling.min_tokens:
            return piece, False
        return self._stops.feed(piece)

    def _delta(self, text: str, reason: FinishReason | None, output: SequenceOutput) -> Delta:
        shown = [info for info in self._pending if info.end <= self._released]
        self._pending = self._pending[len(shown) :]
        return Delta(self.index, text, self.generated, output.cached_tokens, tuple(shown), reason)
