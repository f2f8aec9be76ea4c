"""POST /v1/embeddings: texts or token ids to vectors, in OpenAI's shapes."""

from __future__ import annotations

import asyncio
import base64
import time
from array import array
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from inference.core import FinishReason, SamplingParams
from inference.errors import InvalidRequestError
from inference.protocol import AddRequest
from inference.server.http import json_response, read_body, unless_gone
from inference.server.prompts import count_prompts, prompts_as_ids
from inference.server.schemas import EmbeddingRequest, Prompts
from inference.server.state import ServerState

_NO_TOKENS = SamplingParams(max_tokens=1, temperature=0.0)


async def embeddings(request: Request) -> Response:
    """One vector of length one for every input: the mean of its tokens' last hidden states."""
    state: ServerState = request.app.state.server
    body = await read_body(request, EmbeddingRequest)
    adapter = await state.adapter_of(body.model)
    size = state.model_info.embedding_size
    if body.dimensions not in (None, size):
        raise InvalidRequestError(
            f"this model's vectors have {size} dimensions", param="dimensions"
        )
    state.admit(min(count_prompts(body.input), state.max_num_seqs), "input")
    prompts = await texts_as_ids(state, body.input, "input")
    state.admit(min(len(prompts), state.max_num_seqs))
    vectors = await unless_gone(
        request.receive,
        embed_all(state, request, prompts, priority=body.priority, adapter=adapter),
    )
    total = sum(map(len, prompts))
    answer = {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": _shape(vector, body)}
            for index, vector in enumerate(vectors)
        ],
        "model": state.adapters.model_name(adapter),
        "usage": {"prompt_tokens": total, "total_tokens": total},
    }
    return json_response(answer, headers=request.state.headers)


async def texts_as_ids(state: ServerState, given: Prompts, param: str) -> list[list[int]]:
    """What is to be embedded, as token ids; none is empty or longer than the context.

    Raises:
        InferenceError: one of them cannot be embedded.
    """
    prompts = await prompts_as_ids(state, given, add_special_tokens=True, param=param)
    for prompt in prompts:
        if not prompt:
            raise InvalidRequestError("an input is empty", param=param)
        state.check_token_ids(prompt, param)
        state.tokens_left(len(prompt), None, param)
    return prompts


async def embed_all(
    state: ServerState, request: Request, prompts: list[list[int]], *, priority: int, adapter: str
) -> list[bytes]:
    """All vectors in order, by the model with that adapter ("": alone), no more prompts at once
    than the engine computes.

    When one fails the others are aborted.
    """
    at_once = asyncio.Semaphore(state.max_num_seqs)

    async def one(index: int, prompt: list[int]) -> bytes:
        async with at_once, state.adapters.using(adapter) as adapter_id:
            message = AddRequest(
                request_id=f"{request.state.unique_id}-{index}",
                prompt_token_ids=prompt,
                sampling=_NO_TOKENS,
                priority=priority,
                arrived_at=time.monotonic(),
                wants_embedding=True,
                adapter_id=adapter_id,
            )
            return await _embed(state, message)

    tasks = [asyncio.create_task(one(index, prompt)) for index, prompt in enumerate(prompts)]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _embed(state: ServerState, message: AddRequest) -> bytes:
    timer = state.metrics.start(len(message.prompt_token_ids))
    reason, vector = FinishReason.ABORT, b""
    try:
        async with aclosing(state.engine.generate(message)) as outputs:
            async for output in outputs:
                reason, vector = output.finish_reason or reason, output.vector
    finally:
        timer.finished(reason)
    return vector


def _shape(vector: bytes, body: EmbeddingRequest) -> Any:
    """A list of numbers, or as OpenAI's own clients ask, base64 of the float32 values."""
    if body.encoding_format == "base64":
        return base64.b64encode(vector).decode()
    return array("f", vector).tolist()
