"""The body of an upstream request: from the start, or from the text so far.

A partial answer is continued as docs/engine.md has it, "HTTP": a chat with a last assistant message
that is not closed (`continue_final_message`), a completion with the text appended to its prompt.
The model then sees exactly what it would have seen, one token later.
"""

from typing import Any

import msgspec

from backend.conversations.titles import TITLE_INSTRUCTIONS
from backend.generation.pools.config import PoolConfig
from backend.generation.request import GenerationRequest
from backend.generation.thoughts import split_thought
from backend.generation.tools import call_as_openai, split_calls
from backend.generation.untrusted_content import upstream_messages

_IN_LAST_MESSAGE = {"continue_final_message": True, "add_generation_prompt": False}
PUBLIC_PROMPTS = frozenset({TITLE_INSTRUCTIONS})
"""System prompts of the product itself."""
CHAT_PATH = "/v1/chat/completions"
COMPLETION_PATH = "/v1/completions"


def path_for(request: GenerationRequest) -> str:
    return CHAT_PATH if request.endpoint == "chat" else COMPLETION_PATH


def can_continue(request: GenerationRequest, pool: PoolConfig) -> bool:
    """Whether a partial answer can be continued: the upstream must know how, and where a grammar
    holds the answer it must be one that rebuilds the grammar's state from the text so far."""
    free = request.params.response_format is None and request.tools is None
    return pool.dialect == "vllm" and (free or "grammar_resume" in pool.capabilities)


def upstream_body(
    request: GenerationRequest,
    pool: PoolConfig,
    *,
    choice: int,
    text_so_far: str,
    tokens_so_far: int,
    tokens_of_text: list[int] | None = None,
) -> dict[str, Any]:
    """The request for one choice.

    Args:
        text_so_far: what this choice has already; "" from the start.
        tokens_so_far: how many tokens that took; they come off the limits.
        tokens_of_text: the ids of `text_so_far`; needed when the prompt is token ids.
    """
    params = request.params
    defaults: dict[str, Any] = {**pool.sampling, **({"stop": list(pool.stop)} if pool.stop else {})}
    body = {**defaults, **msgspec.to_builtins(params)}
    body.update(body.pop("extra", {}))
    body["model"] = pool.upstream_model
    body["stream"] = True
    body["stream_options"] = {"include_usage": True}
    if params.max_tokens is not None:
        body["max_tokens"] = params.max_tokens - tokens_so_far
    if params.min_tokens is not None:
        body["min_tokens"] = max(0, params.min_tokens - tokens_so_far)
    if params.seed is not None:
        # n equal choices would be no choice
        body["seed"] = params.seed + choice % (request.n // request.groups)
    if pool.dialect == "vllm":
        body["stream_options"]["continuous_usage_stats"] = True
        body["priority"] = request.principal.plan.queue_priority
        # Cached prefixes are shared within an organization only: a hit would tell by its speed
        # that another one has sent the same text.
        body["cache_salt"] = str(request.principal.organization_id)
        if not request.outlives_delivery:
            body["kv_store"] = False  # of our engine: nothing of it is kept outside its memory
        body.pop("cache_public_messages", None)
        if "public_prefix" in pool.capabilities and _begins_with_own_prompt(request):
            body["cache_public_messages"] = 1
    if request.reasoning_effort:
        body["reasoning_effort"] = request.reasoning_effort
    if request.prediction:
        body["prediction"] = {"type": "content", "content": request.prediction}
    if request.endpoint == "chat":
        body["messages"] = upstream_messages(request)
        if request.tools is not None:
            body.update(msgspec.to_builtins(request.tools.for_upstream))
        if request.continues_answer:
            body |= _IN_LAST_MESSAGE
        if text_so_far:
            _continue_chat(body, text_so_far)
    else:
        prompt = request.prompts[request.group_of(choice)]
        body["prompt"] = _continued_prompt(prompt, text_so_far, tokens_of_text)
        if request.suffix:
            body["suffix"] = request.suffix
    return body


def _begins_with_own_prompt(request: GenerationRequest) -> bool:
    """Whether the first message is one that the product sends for every organization: who sends the
    same learns nothing by finding it cached."""
    if request.endpoint != "chat" or len(request.messages) < 2:
        return False
    first = request.messages[0]
    return first.role == "system" and first.text in PUBLIC_PROMPTS


def _continue_chat(body: dict[str, Any], text_so_far: str) -> None:
    messages = body["messages"]
    content, calls = split_calls(text_so_far)
    if body.get("continue_final_message") and isinstance(messages[-1]["content"], str):
        # The caller's own partial answer: it goes on in the same message.
        messages[-1] = {**messages[-1], "content": messages[-1]["content"] + content}
    else:
        messages.append({"role": "assistant", "content": content})
    if thought := split_thought(text_so_far)[0]:
        messages[-1]["reasoning_content"] = thought
    if calls:
        written = [call_as_openai(call, f"call_{index}") for index, call in enumerate(calls)]
        messages[-1]["tool_calls"] = written
    body |= _IN_LAST_MESSAGE


def _continued_prompt(
    prompt: str | list[int], text_so_far: str, tokens_of_text: list[int] | None
) -> str | list[int]:
    if isinstance(prompt, str):
        return prompt + text_so_far
    if not text_so_far:
        return prompt
    assert tokens_of_text is not None, "token ids can only be continued by token ids"
    return prompt + tokens_of_text
