"""Sequences of a request run at the engine, and their deltas merged as they come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import msgspec

from inference.core import FinishReason
from inference.protocol import AddRequest
from inference.server.choice_text import ChoiceText, Delta
from inference.server.prepare import PreparedPrompt
from inference.server.state import ServerState
from inference.server.tracing import SequenceTrace


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
    async with (
        state.adapters.using(prompt.adapter) as adapter_id,
        aclosing(_run_adapted(state, request_id, index, prompt, adapter_id)) as deltas,
    ):
        async for delta in deltas:
            yield delta


async def _run_adapted(
    state: ServerState, request_id: str, index: int, prompt: PreparedPrompt, adapter_id: int
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
        public_tokens=prompt.public_tokens,
        may_be_kept=prompt.may_be_kept,
        deadline=None if prompt.timeout_s is None else now + prompt.timeout_s,
        wants_readouts=prompt.wants_readouts,
        images=prompt.images,
        adapter_id=adapter_id,
        predicted_token_ids=list(prompt.predicted_token_ids),
    )
    text = ChoiceText(state, index, prompt)
    trace = SequenceTrace()
    reason, cached = FinishReason.ABORT, 0
    try:
        async with aclosing(state.engine.generate(request)) as outputs:
            async for output in outputs:
                timer.tokens(len(output.new_token_ids))
                trace.output(output)
                delta = text.take(output)
                if delta.finish_reason is not None:
                    reason = delta.finish_reason
                cached = delta.cached_tokens
                yield delta
                trace.given()
                if delta.finish_reason is not None:
                    return
    finally:
        timer.finished(reason)
        prompt_tokens = len(prompt.prompt_token_ids)
        trace.end(reason, prompt_tokens=prompt_tokens, cached_tokens=cached)
