"""One line of a batch answered, through the same admission, checks and metering as its endpoint."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import orjson
from django.db import IntegrityError
from pydantic import BaseModel, ValidationError

from backend.accounts.principal import Principal
from backend.api.batches.lines import generation_id_of, line_answer, line_hold, request_id_of
from backend.api.best_of import completion_shape
from backend.api.generations import COMPLETIONS, Shape
from backend.api.models import Batch, BatchLine
from backend.api.moderation import moderation
from backend.api.openai_requests import from_chat, from_completion, from_embeddings
from backend.api.responses import rows as responses
from backend.api.responses.objects import parameters
from backend.api.responses.request import from_response
from backend.api.responses.shape import ResponseShape
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.openai_completions import CompletionRequest
from backend.api.schemas.openai_embeddings import EmbeddingsRequest
from backend.api.schemas.openai_moderations import ModerationRequest
from backend.api.schemas.responses import ResponseCreate
from backend.api.stored_chats.rows import chat_store
from backend.api.validation import invalid_request_from
from backend.generation.admission.prompt_check import Fence
from backend.generation.completion import Completion
from backend.generation.finish.result import error_of, stored_completion
from backend.generation.gateway import Gateway
from backend.generation.models import Generation, StoredAnswer
from backend.generation.pools.config import load_pools
from backend.generation.request import GenerationRequest
from backend.generation.service import embeddings_create, generation_result, generation_start
from backend.platform.database import in_database
from backend.platform.errors import Conflict, InvalidRequest, NotFound
from billing.tiers import BATCH

PRIORITY = 1_000
"""Of queues and engines, larger than any plan's: a batch is served where nobody else waits."""

Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Asked:
    """A line, by whom it is asked, where."""

    gateway: Gateway
    line: BatchLine
    principal: Principal

    @property
    def caller(self) -> dict[str, Any]:
        """As endpoints make their generations."""
        plan = replace(self.principal.plan, queue_priority=PRIORITY)
        return {
            "principal": replace(self.principal, plan=plan),
            "request_id": request_id_of(self.line),
            "client_hash": "",
        }


async def line_run(gateway: Gateway, batch: Batch, line: BatchLine, principal: Principal) -> None:
    """Answer a line and store the answer.

    Raises:
        ParleyError: there is no answer, now or at all.
    """
    asked = Asked(gateway, line, principal)
    answers = {
        "/v1/chat/completions": _chat,
        "/v1/completions": _completion,
        "/v1/responses": _response,
        "/v1/embeddings": _embeddings,
        "/v1/moderations": _moderation,
    }
    await answers[batch.endpoint](asked)


async def _chat(asked: Asked) -> None:
    body = _body(ChatCompletionRequest, asked.line)
    _refuse("stream", body.stream)
    _refuse("service_tier", body.service_tier not in (None, "auto", "default"))
    stores = None
    if body.store:
        stores = partial(
            chat_store,
            generation_id=generation_id_of(asked.line),
            principal=asked.principal,
            body=body,
            model=load_pools().find(body.model).id,
        )
    wanted = from_chat(body, **asked.caller)
    await _generate(asked, wanted, COMPLETIONS, fence=stores, keeps_answer=bool(body.store))


async def _completion(asked: Asked) -> None:
    body = _body(CompletionRequest, asked.line)
    _refuse("stream", body.stream)
    await _generate(asked, from_completion(body, **asked.caller), completion_shape(body))


async def _response(asked: Asked) -> None:
    body = _body(ResponseCreate, asked.line)
    _refuse("stream", body.stream)
    _refuse("background", body.background)
    _refuse("conversation", body.conversation)
    _refuse("service_tier", body.service_tier not in (None, "auto", "default"))
    history: list[dict[str, Any]] = []
    if body.previous_response_id is not None:
        followed = await in_database(responses.history_of, body=body, principal=asked.principal)
        history = followed.messages
    stores = None
    if body.is_stored:
        stores = partial(
            responses.response_store,
            generation_id=generation_id_of(asked.line),
            principal=asked.principal,
            body=body,
        )
    shape = ResponseShape(parameters(body))
    wanted = from_response(body, history, **asked.caller).wanted
    await _generate(asked, wanted, shape, fence=stores, keeps_answer=body.is_stored)


async def _embeddings(asked: Asked) -> None:
    line = asked.line
    body = _body(EmbeddingsRequest, line)

    def stores(answer: dict[str, Any]) -> None:
        """In the transaction that bills it: a line is answered and billed, or neither."""
        _hold(line)
        line_answer(line, status=200, body=answer)

    wanted = replace(
        from_embeddings(body, **asked.caller),
        service_tier=BATCH,
        generation_id=generation_id_of(line),
        stores=stores,
    )
    try:
        await embeddings_create(asked.gateway, wanted)
    except IntegrityError:
        if not await in_database(_has_answer, line):
            raise


async def _moderation(asked: Asked) -> None:
    body = _body(ModerationRequest, asked.line)
    await in_database(line_answer, asked.line, status=200, body=await moderation(body))


async def _generate(
    asked: Asked,
    wanted: GenerationRequest,
    shape: Shape,
    *,
    fence: Fence | None = None,
    keeps_answer: bool = False,
) -> None:
    """Begin the line's generation, unless it has begun; wait for its end; store the answer."""
    generation_id = generation_id_of(asked.line)
    if not await _has_begun(asked.line, generation_id):
        wanted = replace(
            wanted,
            generation_id=generation_id,
            on_disconnect="go_on",
            stores_answer=True,
            service_tier=BATCH,
        )
        try:
            await generation_start(asked.gateway, wanted, fence=partial(_begin, asked.line, fence))
        except Conflict:
            if not await in_database(Generation.objects.filter(pk=generation_id).exists):
                raise
    completion = await _end_of(asked, generation_id)
    await in_database(
        line_answer,
        asked.line,
        status=200,
        body=shape.whole(generation_id, completion),
        generation_id=None if keeps_answer else generation_id,
    )


def _begin(line: BatchLine, fence: Fence | None) -> None:
    """In the transaction that stores its generation's row."""
    _hold(line)
    if fence is not None:
        fence()


def _hold(line: BatchLine) -> None:
    """Raises Conflict: another process has answered it, or tries it anew under another id."""
    if not line_hold(line):
        raise Conflict(f"The line {line.number} is another process's.")


async def _end_of(asked: Asked, generation_id: UUID) -> Completion:
    """The whole answer: from where it runs, from its events, or from what is stored of it."""
    try:
        return await generation_result(asked.gateway, generation_id, principal=asked.principal)
    except NotFound:
        return await in_database(_stored_completion, generation_id)


def _stored_completion(generation_id: UUID) -> Completion:
    row = Generation.objects.get(pk=generation_id)
    text = StoredAnswer.objects.filter(pk=generation_id).values_list("text", flat=True).first()
    if row.is_open or not text:
        message = "The answer was lost." if row.is_open else "The request was not answered."
        raise error_of(code=row.error_code, message=message)
    return stored_completion(row, text)


async def _has_begun(line: BatchLine, generation_id: UUID) -> bool:
    """Whether somebody has begun it, who does not answer it any more."""
    if line.claimed_until is None:  # as it was when it was claimed: nobody has ever had it
        return False
    return await in_database(Generation.objects.filter(pk=generation_id).exists)


def _has_answer(line: BatchLine) -> bool:
    return BatchLine.objects.filter(pk=line.pk, is_done=True).exists()


def _body(model: type[Body], line: BatchLine) -> Body:
    """Raises InvalidRequest, naming the field."""
    body = orjson.dumps(orjson.loads(line.body)["body"])
    try:
        return model.model_validate(orjson.loads(body))
    except ValidationError as error:
        problems = [
            {"loc": ("body", "body", *one["loc"]), "msg": one["msg"], "type": one["type"]}
            for one in error.errors()
        ]
        raise invalid_request_from(problems, body) from error


def _refuse(name: str, value: object) -> None:
    if value:
        raise InvalidRequest(
            f"'{name}' is not supported in a batch.", param=name, code="unsupported_parameter"
        )
