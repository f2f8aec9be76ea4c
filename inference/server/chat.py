"""POST /v1/chat/completions."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from inference.core import FinishReason, TokenLogprobs
from inference.errors import InvalidRequestError
from inference.server.choice_text import ChoiceSoFar, Delta, TokenInfo
from inference.server.generation import run_prompts
from inference.server.http import EventStream, json_response, read_body, unless_gone
from inference.server.images import check_copies
from inference.server.prepare import Asked, PreparedPrompt, Structure, prepare_prompts, structure_of
from inference.server.prompts import answer_tokens, encode, render_prompt
from inference.server.schemas import ChatRequest
from inference.server.state import ServerState
from inference.server.thoughts import Thinking
from inference.server.tools import (
    Answered,
    CallDeltas,
    DeltaWriter,
    TextDeltas,
    ToolUse,
    WholeAnswer,
)
from inference.server.usage import UsageCount, remembered
from inference.text.tokenizer import TextTokenizer


async def chat_completions(request: Request) -> Response:
    state: ServerState = request.app.state.server
    body = await read_body(request, ChatRequest)
    adapter = await state.adapter_of(body.model)
    state.check_generates()
    n = body.n or 1
    state.admit(n, "n")
    tools = ToolUse.of(body, state.chat_template)
    thinking = Thinking.of(body, state.chat_template, tools)
    prompt, opened = await _prepare(state, body, tools, thinking)
    prompt = replace(prompt, adapter=adapter)
    check_copies(prompt.images, n)
    state.admit(n, "n")  # others may have come while this one was made ready
    writers = [
        thinking.writer(
            body, _writer(state, body, tools, f"{request.state.unique_id}_{i}"), opened=opened
        )
        for i in range(n)
    ]
    chat_id, model = f"chatcmpl-{request.state.unique_id}", state.adapters.model_name(adapter)
    answer = _Answer(state, chat_id, int(time.time()), model, writers)
    usage = UsageCount([prompt], n)
    deltas = run_prompts(state, request.state.unique_id, [prompt], n)
    deltas = remembered(deltas, usage, state.recent, request)
    if body.stream:
        return EventStream(answer.stream(body, deltas, usage), request.state.headers)
    whole = await unless_gone(request.receive, answer.collect(deltas, usage, n))
    return json_response(whole, headers=request.state.headers)


def _writer(
    state: ServerState, body: ChatRequest, tools: ToolUse | None, new_id: str
) -> DeltaWriter:
    if tools is None:
        return TextDeltas()
    return CallDeltas(
        tools.form,
        new_id,
        _so_far(body),
        tools.bare_names(state.tokenizer),
        ends_on_repeat=tools.ends_on_repeat,
    )


def _so_far(body: ChatRequest) -> Answered:
    last = body.messages[-1]
    return Answered(last.text, last.calls) if body.continue_final_message else Answered()


async def _structure(
    state: ServerState, body: ChatRequest, tools: ToolUse | None, continued: list[int]
) -> Structure:
    """What the answer must follow. `continued` are the tokens that it begins with already."""
    prefix = tuple(continued)
    if tools is None:
        return await structure_of(state, body, prefix)
    for param in ("guided_regex", "guided_choice"):
        if getattr(body, param) is not None:
            raise InvalidRequestError("it cannot be joined with tools", param=param)
    grammar = await state.off_loop(tools.grammar, state.tokenizer)
    return Structure(grammar, "tools", prefix, tools.shown_token_ids(state.tokenizer))


async def _prepare(
    state: ServerState, body: ChatRequest, tools: ToolUse | None, thinking: Thinking
) -> tuple[PreparedPrompt, bool]:
    """The prompt, and whether the answer begins in a thought."""
    if body.top_logprobs and not body.logprobs:
        raise InvalidRequestError("top_logprobs needs logprobs: true", param="top_logprobs")
    newer, older = body.max_completion_tokens, body.max_tokens
    if None not in (newer, older) and newer != older:
        raise InvalidRequestError(
            "max_tokens is the older name of max_completion_tokens: give one of them",
            param="max_tokens",
        )
    rendered = await render_prompt(
        state,
        body.messages,
        add_generation_prompt=body.add_generation_prompt,
        continue_final_message=body.continue_final_message,
        variables=thinking.variables,
        tools=tools.shown if tools else None,
        thinks=thinking.is_on,
    )
    continued: list[int] = []
    if body.continue_final_message:
        opened = rendered.opens_thought
        continued = await answer_tokens(state, body.messages[-1], opened=opened)
    structure = await _structure(state, body, tools, continued)
    shown = structure.shown_tokens | thinking.shown_token_ids(state.tokenizer)
    [prompt] = await prepare_prompts(
        state,
        body,
        [rendered.token_ids],
        max_tokens=newer if newer is not None else older,
        max_tokens_param="max_tokens" if newer is None else "max_completion_tokens",
        logprobs=(body.top_logprobs or 0) if body.logprobs else None,
        prompt_param="messages",
        asked=await _asked(state, body, rendered.token_ids),
        defaults=state.chat_defaults,
        structure=replace(structure, shown_tokens=shown),
        continued_tokens=len(continued),
        images=rendered.images,
    )
    prompt = replace(
        prompt,
        predicted_token_ids=await _predicted(state, body),
        public_tokens=await _public_tokens(state, body, rendered.token_ids),
    )
    if tools is not None:
        watch = partial(tools.repeat_watch, state.tokenizer, _so_far(body))
        prompt = replace(prompt, repeat_watch=watch)
    return prompt, rendered.opens_thought


async def _public_tokens(state: ServerState, body: ChatRequest, token_ids: list[int]) -> int:
    """How many tokens the prompt begins with that follow from the product's own messages alone.

    They are those that a chat of these messages begins with too: nothing else is in them, whatever
    the template does with the other messages.

    Raises:
        InvalidRequestError: not all of the messages can be public, or their roles cannot be.
    """
    if not body.cache_public_messages:
        return 0
    public = body.messages[: body.cache_public_messages]
    if len(public) == len(body.messages) or any(one.role == "user" for one in public):
        raise InvalidRequestError(
            "it counts the product's own messages, before any user's", param="cache_public_messages"
        )
    try:
        alone = await render_prompt(
            state, public, add_generation_prompt=False, continue_final_message=False
        )
    except InvalidRequestError:
        return 0  # a template that wants a user's message too
    both = zip(alone.token_ids, token_ids, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))


async def _predicted(state: ServerState, body: ChatRequest) -> tuple[int, ...]:
    """Raises ContextLengthError: the prediction is longer than any answer."""
    if body.prediction is None:
        return ()
    state.check_text(len(body.prediction.text), "prediction")
    return tuple(await encode(state, body.prediction.text, add_special_tokens=False))


async def _asked(state: ServerState, body: ChatRequest, token_ids: list[int]) -> Asked | None:
    """What loop detection needs to know; None when it is not wanted."""
    wanted = not body.ignore_eos if body.stop_on_loop is None else body.stop_on_loop
    if not wanted:
        return None
    texts = [message.text for message in body.messages if message.role == "user"]
    partial: list[int] = []
    if body.continue_final_message:
        own = await encode(state, body.messages[-1].text, add_special_tokens=False)
        partial = token_ids[-len(own) :] if own else []
    return Asked("\n".join(texts), tuple(partial))


@dataclass(frozen=True)
class _Answer:
    """Shapes deltas into OpenAI's chat objects."""

    state: ServerState
    id: str
    created: int
    model: str
    writers: list[DeltaWriter]

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
                said = self._deltas(delta, usage)
                has_news = said or delta.tokens or delta.readouts or delta.finish_reason
                silent = not (has_news or continuous)
                first, *rest = said or [{}]
                if delta.index not in begun:
                    begun.add(delta.index)
                    first = {"role": "assistant", "content": "", **first}
                elif silent:
                    continue
                for at, content in enumerate([first, *rest]):
                    ends = {"first": at == 0, "last": at == len(rest)}
                    choice = self._choice(delta, "delta", content, **ends)
                    yield chunk([choice], counted=continuous)
        if include_usage:
            yield chunk([], counted=True)

    def _deltas(self, delta: Delta, usage: UsageCount) -> list[dict[str, Any]]:
        """OpenAI's `delta` objects for what one step gave."""
        writer = self.writers[delta.index]
        thought = writer.is_thinking
        said = writer.feed(delta.text) + (writer.finish() if delta.finish_reason else [])
        if thought or writer.is_thinking:
            usage.take_thought(delta)
        return said

    async def collect(
        self, deltas: AsyncGenerator[Delta, None], usage: UsageCount, n: int
    ) -> dict[str, Any]:
        answers = [WholeAnswer(writer.begun) for writer in self.writers]
        made = [ChoiceSoFar() for _ in range(n)]
        async with aclosing(deltas):
            async for delta in deltas:
                usage.take(delta)
                for content in self._deltas(delta, usage):
                    answers[delta.index].take(content)
                made[delta.index].take(delta)
        choices = [
            self._choice(made[index].joined(index), "message", answers[index].message())
            for index in range(n)
        ]
        return {**self._object("chat.completion", choices), "usage": usage.report()}

    def _object(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }

    def _choice(
        self,
        delta: Delta,
        key: str,
        content: dict[str, Any],
        *,
        first: bool = True,
        last: bool = True,
    ) -> dict[str, Any]:
        """One choice of an object. What a step gave may take several: its log probabilities are
        in the first, its end in the last."""
        logprobs = None
        finish: dict[str, Any] = {"finish_reason": None}
        if last:
            finish = delta.finish_fields()
            if delta.finish_reason is FinishReason.STOP:
                finish["finish_reason"] = self.writers[delta.index].stop_reason
        if delta.tokens and first:
            entries = [_logprob_entry(self.state.tokenizer, info) for info in delta.tokens]
            logprobs = {"content": entries}
        return {
            "index": delta.index,
            key: content,
            "logprobs": logprobs,
            **(delta.readout_fields(self.state.model_info.num_readouts) if first else {}),
            **finish,
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
