"""POST /v1/completions: text or token ids in, text out, without a chat template."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from inference.errors import InvalidRequestError
from inference.server.choice_text import ChoiceSoFar, Delta, TokenInfo
from inference.server.generation import run_prompts
from inference.server.http import EventStream, json_response, read_body, unless_gone
from inference.server.prepare import Asked, prepare_prompts
from inference.server.prompts import count_prompts, prompts_as_ids, with_suffix
from inference.server.schemas import CompletionRequest
from inference.server.state import ServerState
from inference.server.usage import UsageCount, remembered
from inference.text.tokenizer import TextTokenizer

_DEFAULT_MAX_TOKENS = 16


async def completions(request: Request) -> Response:
    state: ServerState = request.app.state.server
    body = await read_body(request, CompletionRequest)
    adapter = await state.adapter_of(body.model)
    state.check_generates()
    n = body.n or 1
    tried = _tries(body, n)
    sequences = tried * count_prompts(body.prompt)
    state.admit(sequences, "prompt")
    prompts = await prompts_as_ids(
        state, body.prompt, add_special_tokens=body.add_special_tokens, param="prompt"
    )
    if body.suffix:
        prompts = await with_suffix(state, prompts, body.suffix)
    prepared = await prepare_prompts(
        state,
        body,
        prompts,
        max_tokens=body.max_tokens or _DEFAULT_MAX_TOKENS,
        max_tokens_param="max_tokens",
        logprobs=0 if body.logprobs is None and tried > n else body.logprobs,
        prompt_param="prompt",
        # A text is continued as it is, loops included, unless the caller wants them to end.
        asked=Asked(_prompt_text(body)) if body.stop_on_loop else None,
        adapter=adapter,
    )
    state.admit(sequences, "prompt")  # others may have come while this one was made ready
    echoes = [
        state.tokenizer.decode_prompt(prompt.prompt_token_ids) if body.echo else ""
        for prompt in prepared
        for _ in range(tried)
    ]
    answer_id, model = f"cmpl-{request.state.unique_id}", state.adapters.model_name(adapter)
    answer = _Answer(state, answer_id, int(time.time()), model, echoes)
    usage = UsageCount(prepared, tried)
    deltas = run_prompts(state, request.state.unique_id, prepared, tried)
    deltas = remembered(deltas, usage, state.recent, request)
    if body.stream:
        return EventStream(answer.stream(body, deltas, usage), request.state.headers)
    collected = answer.collect(body, deltas, usage, n, tried)
    whole = await unless_gone(request.receive, collected)
    return json_response(whole, headers=request.state.headers)


def _prompt_text(body: CompletionRequest) -> str:
    """The words of the prompts, where they came as words."""
    prompts = [body.prompt] if isinstance(body.prompt, str) else body.prompt
    return "\n".join(prompt for prompt in prompts if isinstance(prompt, str))


def _tries(body: CompletionRequest, n: int) -> int:
    """How many sequences are generated for the `n` that are answered.

    Raises:
        InvalidRequestError: when `best_of` is less than `n`, or a stream would have to wait.
    """
    if body.echo and body.logprobs is not None:
        raise InvalidRequestError(
            "echo cannot be joined with logprobs: those of the prompt are not computed",
            param="echo",
        )
    tried = body.best_of or n
    if tried < n:
        raise InvalidRequestError(f"best_of {tried} is less than n {n}", param="best_of")
    if tried > n and body.stream:
        raise InvalidRequestError(
            "which answers are best is known at the end: best_of cannot be streamed",
            param="best_of",
        )
    return tried


@dataclass(frozen=True)
class _Answer:
    """Shapes deltas into OpenAI's text completion objects."""

    state: ServerState
    id: str
    created: int
    model: str
    echoes: list[str]

    async def stream(
        self, body: CompletionRequest, deltas: AsyncGenerator[Delta, None], usage: UsageCount
    ) -> AsyncGenerator[dict[str, Any], None]:
        options = body.stream_options
        include_usage = options is not None and options.include_usage
        continuous = options is not None and options.continuous_usage_stats
        begun: set[int] = set()
        async with aclosing(deltas):
            async for delta in deltas:
                usage.take(delta)
                first = delta.index not in begun
                begun.add(delta.index)
                text = self.echoes[delta.index] + delta.text if first else delta.text
                has_news = text or delta.tokens or delta.readouts or delta.finish_reason
                if not (has_news or continuous):
                    continue
                chunk = self._object([self._choice(delta, text)])
                if include_usage or continuous:
                    chunk["usage"] = usage.report() if continuous else None
                yield chunk
        if include_usage:
            yield {**self._object([]), "usage": usage.report()}

    async def collect(
        self,
        body: CompletionRequest,
        deltas: AsyncGenerator[Delta, None],
        usage: UsageCount,
        n: int,
        tried: int,
    ) -> dict[str, Any]:
        """The whole answer: of every `tried` choices of a prompt the likeliest `n`."""
        made = [ChoiceSoFar(echo) for echo in self.echoes]
        async with aclosing(deltas):
            async for delta in deltas:
                usage.take(delta)
                made[delta.index].take(delta)
        shown = body.logprobs is not None
        likeliest = _likeliest([choice.tokens for choice in made], n, tried)
        choices = [
            self._choice(made[i].joined(index, tokens=shown), made[i].text)
            for index, i in enumerate(likeliest)
        ]
        return {**self._object(choices), "usage": usage.report()}

    def _object(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }

    def _choice(self, delta: Delta, text: str) -> dict[str, Any]:
        return {
            "index": delta.index,
            "text": text,
            "logprobs": _logprobs(self.state.tokenizer, delta.tokens) if delta.tokens else None,
            **delta.readout_fields(self.state.model_info.num_readouts),
            **delta.finish_fields(),
        }


def _likeliest(tokens: list[list[TokenInfo]], n: int, tried: int) -> list[int]:
    """Of every `tried` choices the `n` with the highest log probability per token, in order."""
    if n == tried:
        return list(range(len(tokens)))

    def per_token(index: int) -> float:
        values = [info.logprobs.chosen for info in tokens[index]]
        return sum(values) / len(values) if values else float("-inf")

    return [
        index
        for first in range(0, len(tokens), tried)
        for index in sorted(range(first, first + tried), key=per_token, reverse=True)[:n]
    ]


def _logprobs(tokenizer: TextTokenizer, tokens: tuple[TokenInfo, ...]) -> dict[str, Any]:
    def spelled(token_id: int) -> str:
        return tokenizer.token_bytes(token_id).decode("utf-8", "replace")

    return {
        "tokens": [spelled(info.token_id) for info in tokens],
        "token_logprobs": [max(info.logprobs.chosen, -9999.0) for info in tokens],
        "top_logprobs": [
            {
                spelled(token_id): max(value, -9999.0)
                for token_id, value in zip(
                    info.logprobs.top_token_ids, info.logprobs.top_logprobs, strict=True
                )
            }
            for info in tokens
        ],
        "text_offset": [info.begin for info in tokens],
    }
