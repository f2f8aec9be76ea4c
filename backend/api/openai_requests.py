"""From the validated OpenAI body to the gateway's GenerationRequest."""

from dataclasses import replace
from typing import Any

from msgspec import structs

from backend.accounts.principal import Principal
from backend.api.schemas import openai_messages
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.openai_completions import CompletionRequest
from backend.api.schemas.openai_embeddings import EmbeddingsRequest
from backend.api.schemas.openai_messages import InputMessage
from backend.api.schemas.openai_parameters import GenerationParameters
from backend.api.schemas.rerank import RerankBody
from backend.conversations.types import ChatMessage, ImagePart, Part, TextPart, ToolCall
from backend.generation.admission.image_text import require_sight
from backend.generation.embeddings import EmbeddingRequest, RerankRequest
from backend.generation.pools.access import require_capability
from backend.generation.pools.config import load_pools
from backend.generation.request import GenerationRequest, SamplingParams
from billing.tiers import FLEX, PRIORITY

# OpenAI allows top_p 0, which means the likeliest token; engines want more than zero.
_SMALLEST_TOP_P = 1e-6
PRIORITY_STEPS = {FLEX: 20, PRIORITY: -20}
"""What a service tier adds to the plan's queue priority; plans are ten apart."""
_VERBOSITY = {
    "low": "Answer as briefly as the question allows, without repetition or preamble.",
    "high": "Answer at length: explain each step, and give details and examples.",
}
_SHARED_PARAMETERS = [
    name for name in SamplingParams.__struct_fields__ if name in GenerationParameters.model_fields
]


def from_chat(
    body: ChatCompletionRequest, *, principal: Principal, request_id: str, client_hash: str
) -> GenerationRequest:
    """Raises ModelNotFound, and InvalidRequest for what the model cannot do."""
    pool = load_pools().find(body.model)
    require_capability(pool, "chat", "messages")
    if any(message.has_image for message in body.messages):
        require_sight(pool)
    if body.logprobs:
        require_capability(pool, "logprobs", "logprobs")
    response_format = body.response_format.for_upstream() if body.response_format else None
    if response_format is not None:
        require_capability(pool, "structured_output", "response_format")
    tools = body.for_generation
    if tools is not None:
        require_capability(pool, "tools", "tools")
    effort = body.reasoning_effort or ""
    if "reasoning" not in pool.capabilities and effort == "none":
        effort = ""
    if effort:
        require_capability(pool, "reasoning", "reasoning_effort")
    prediction = body.prediction.text if body.prediction else ""
    if prediction:
        require_capability(pool, "prediction", "prediction")
    tier = body.service_tier if body.service_tier in PRIORITY_STEPS else ""
    return GenerationRequest(
        principal=_in_tier(principal, tier),
        service_tier=tier,
        request_id=request_id,
        client_hash=client_hash,
        endpoint="chat",
        model=body.model,
        messages=_with_verbosity(
            [chat_message(message) for message in body.messages], body.verbosity
        ),
        params=_params(
            body,
            max_tokens=body.output_limit,
            logprobs=body.logprobs or None,
            top_logprobs=body.top_logprobs,
            response_format=response_format,
        ),
        tools=tools,
        reasoning_effort=effort,
        prediction=prediction,
        n=body.n or 1,
        stream_usage=body.wants_usage_chunk,
        stores_answer=bool(body.store),
        retention_days=0 if body.store is False else None,
    )


def from_completion(
    body: CompletionRequest, *, principal: Principal, request_id: str, client_hash: str
) -> GenerationRequest:
    """Raises ModelNotFound, and InvalidRequest for what the model cannot do."""
    pool = load_pools().find(body.model)
    require_capability(pool, "completions", "model")
    if body.logprobs is not None:
        require_capability(pool, "logprobs", "logprobs")
    logprobs = body.logprobs
    if body.candidates > (body.n or 1):
        require_capability(pool, "logprobs", "best_of")  # by which they are ranked (best_of.py)
        logprobs = logprobs or 0
    first, *more = body.prompts
    if body.suffix:
        require_capability(pool, "infill", "suffix")
    return GenerationRequest(
        principal=principal,
        request_id=request_id,
        client_hash=client_hash,
        endpoint="completion",
        model=body.model,
        prompt=first,
        more_prompts=more,
        suffix=body.suffix or "",
        echo=bool(body.echo),
        params=_params(body, max_tokens=body.max_tokens, logprobs=logprobs),
        n=body.candidates * (1 + len(more)),
        stream_usage=body.wants_usage_chunk,
    )


def from_embeddings(
    body: EmbeddingsRequest, *, principal: Principal, request_id: str, client_hash: str
) -> EmbeddingRequest:
    """The model is looked up by `embeddings_create`."""
    return EmbeddingRequest(
        principal=principal,
        request_id=request_id,
        client_hash=client_hash,
        model=body.model,
        inputs=body.inputs,
        encoding_format=body.encoding_format,
        dimensions=body.dimensions,
    )


def from_rerank(
    body: RerankBody, *, principal: Principal, request_id: str, client_hash: str
) -> RerankRequest:
    """The model is looked up by `rerank_create`."""
    return RerankRequest(
        principal=principal,
        request_id=request_id,
        client_hash=client_hash,
        model=body.model,
        query=body.query,
        documents=body.texts,
        top_n=body.top_n,
        returns_documents=body.return_documents,
    )


def chat_message(message: InputMessage) -> ChatMessage:
    """`developer` is the newer name of `system`, which chat templates know."""
    role = "system" if message.role == "developer" else message.role
    content = message.content or ""
    return ChatMessage(
        role,
        content if isinstance(content, str) else [_part(part) for part in content],
        message.name,
        [
            ToolCall(call.id, call.function.name, call.function.arguments)
            for call in message.tool_calls or ()
        ],
        message.tool_call_id,
    )


def _with_verbosity(messages: list[ChatMessage], verbosity: str | None) -> list[ChatMessage]:
    """No chat template has a word for it: it is a sentence at the end of the system message."""
    sentence = _VERBOSITY.get(verbosity or "")
    if sentence is None:
        return messages
    first = messages[0]
    if first.role != "system":
        return [ChatMessage("system", sentence), *messages]
    content = first.content
    if isinstance(content, str):
        joined: str | list[Part] = f"{content}\n\n{sentence}"
    else:
        joined = [*content, TextPart(sentence)]
    return [structs.replace(first, content=joined), *messages[1:]]


def _in_tier(principal: Principal, tier: str) -> Principal:
    """The caller, whose requests of this tier wait longer or shorter than their plan's."""
    if not tier:
        return principal
    priority = principal.plan.queue_priority + PRIORITY_STEPS[tier]
    return replace(principal, plan=replace(principal.plan, queue_priority=priority))


def _part(part: openai_messages.Part) -> Part:
    if isinstance(part, openai_messages.ImagePart):
        return ImagePart(part.image_url.url, part.image_url.detail)
    return TextPart(part.text)


def _params(body: GenerationParameters, **specific: Any) -> SamplingParams:
    """What both endpoints have passes by its name; `specific` is what each has in its own way."""
    shared = {name: getattr(body, name) for name in _SHARED_PARAMETERS}
    if shared["top_p"] is not None:
        shared["top_p"] = max(shared["top_p"], _SMALLEST_TOP_P)
    return SamplingParams(**{**shared, "stop": body.stops, **specific})
