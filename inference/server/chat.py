"""POST /v1/chat/completions."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from inference.core import FinishReason, TokenLogprobs
from inference.errors import InvalidRequestError
from inference.server.generation import Delta, Plan, TokenInfo, make_plans, run_plans
from inference.server.http import EventStream, json_response, read_body, unless_gone
from inference.server.prompts import render_prompt
from inference.server.schemas import ChatRequest
from inference.server.state import ServerState
from inference.server.usage import UsageCount, remembered
from inference.text.tokenizer import TextTokenizer


async def chat_completions(request: Request) -> Response:
    state: ServerState = request.app.state.server
    body = await read_body(request, ChatRequest)
    state.check_model(body.model)
    n = body.n or 1
    state.admit(n, "n")
    plan = await _plan(state, body)
    state.admit(n, "n")  # others may have come while this one was made ready
    answer = _Answer(state, f"chatcmpl-{request.state.unique_id}", int(time.time()))
    usage = UsageCount([plan], n)
    deltas = run_plans(state, request.state.unique_id, [plan], n)
    deltas = remembered(deltas, usage, state.recent, request)
    if body.stream:
        return EventStream(answer.stream(body, deltas, usage), request.state.headers)
    whole = await unless_gone(request.receive, answer.collect(deltas, usage, n))
    return json_response(whole, headers=request.state.headers)


async def _plan(state: ServerState, body: ChatRequest) -> Plan:
    if body.top_logprobs and not body.logprobs:
        raise InvalidRequestError("top_logprobs needs logprobs: true", param="top_logprobs")
    newer, older = body.max_completion_tokens, body.max_tokens
    if None not in (newer, older) and newer != older:
        raise InvalidRequestError(
            "max_tokens is the older name of max_completion_tokens: give one of them",
            param="max_tokens",
        )
    prompt = await render_prompt(
        state,
        body.messages,
        add_generation_prompt=body.add_generation_prompt,
        continue_final_message=body.continue_final_message,
        variables=body.chat_template_kwargs,
    )
    [plan] = await make_plans(
        state,
        body,
        [prompt],
        max_tokens=newer if newer is not None else older,
        max_tokens_param="max_tokens" if newer is None else "max_completion_tokens",
        logprobs=(body.top_logprobs or 0) if body.logprobs else None,
        prompt_param="messages",
    )
    return plan


@dataclass(frozen=True)
class _Answer:
    """Shapes deltas into OpenAI's chat objects."""

    state: ServerState
    id: str
    created: int

    async def stream(
        self, body: ChatRequest, deltas: AsyncGenerator[Delta, None], usage: UsageCount
    ) -> AsyncGenerator[dict[str, Any], None]:
        options = body.stream_options
        include_usage = options is not None and options.include_usage
        continuous = options is not None and options.continuous_usage_stats
        begun: set[int] = set()

        def chunk(choices: list[dict[str, Any]], *, counted: bool) -> dict[str, Any]:
            made: dict[str, Any] = self._object("chat.completion.chunk", choices)
            if include_usage or continuous:
                made["usage"] = usage.report() if counted else None
            return made

        async with aclosing(deltas):
            async for delta in deltas:
                usage.take(delta)
                content: dict[str, Any] = {"content": delta.text}
                if delta.index not in begun:
                    begun.add(delta.index)
                    content = {"role": "assistant", **content}
                elif not (delta.text or delta.tokens or delta.finish_reason or continuous):
                    continue
                yield chunk([self._choice(delta, "delta", content)], counted=continuous)
        if include_usage:
            yield chunk([], counted=True)

    async def collect(
        self, deltas: AsyncGenerator[Delta, None], usage: UsageCount, n: int
    ) -> dict[str, Any]:
        texts = [""] * n
        tokens: list[list[TokenInfo]] = [[] for _ in range(n)]
        reasons: list[FinishReason | None] = [None] * n
        async with aclosing(deltas):
            async for delta in deltas:
                usage.take(delta)
                texts[delta.index] += delta.text
                tokens[delta.index].extend(delta.tokens)
                reasons[delta.index] = delta.finish_reason
        choices = [
            self._choice(
                Delta(index, texts[index], 0, 0, tuple(tokens[index]), reasons[index]),
                "message",
                {"role": "assistant", "content": texts[index]},
            )
            for index in range(n)
        ]
        return {**self._object("chat.completion", choices), "usage": usage.report()}

    def _object(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.state.config.served_model_name,
            "choices": choices,
        }

    def _choice(self, delta: Delta, key: str, content: dict[str, Any]) -> dict[str, Any]:
        logprobs = None
        if delta.tokens:
            entries = [_logprob_entry(self.state.tokenizer, info) for info in delta.tokens]
            logprobs = {"content": entries}
        return {
            "index": delta.index,
            key: content,
            "logprobs": logprobs,
            "finish_reason": delta.finish_reason,
        }


def _logprob_entry(tokenizer: TextTokenizer, info: TokenInfo) -> dict[str, Any]:
    values: TokenLogprobs = info.logprobs
    return {
        **_one_logprob(tokenizer, info.token_id, values.chosen),
        "top_logprobs": [
            _one_logprob(tokenizer, token_id, value)
            for token_id, value in zip(values.top_token_ids, values.top_logprobs, strict=True)
        ],
    }


def _one_logprob(tokenizer: TextTokenizer, token_id: int, value: float) -> dict[str, Any]:
    spelled = tokenizer.token_bytes(token_id)
    return {
        "token": spelled.decode("utf-8", "replace"),
        "logprob": max(value, -9999.0),  # -inf is no JSON
        "bytes": list(spelled),
    }
