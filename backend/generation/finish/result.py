"""The whole answer of an ended generation, for callers that do not stream."""

from typing import Any

from backend.generation.completion import Completion, CompletionChoice
from backend.generation.models import Generation
from backend.generation.request import Endpoint, public_id
from backend.generation.run.active import ActiveGeneration
from backend.generation.run.replay import Replay
from backend.generation.thoughts import split_thought
from backend.generation.tools import split_calls
from backend.generation.usage import Usage
from backend.platform import errors

_KINDS: tuple[type[errors.ParleyError], ...] = (
    errors.InvalidRequest,
    errors.ContextLengthExceeded,
    errors.ModelNotFound,
    errors.UpstreamFailed,
    errors.Overloaded,
    errors.GenerationTimeout,
)


def error_of(*, code: str, message: str, param: str | None = None) -> errors.ParleyError:
    """The error that a stream or a row tells of, as it was before it was written down."""
    kind = next((kind for kind in _KINDS if kind.code == code), errors.ParleyError)
    return kind(message, param=param, code=code or None)


def completion_in_memory(
    active: ActiveGeneration, usage: Usage, error: errors.ParleyError | None
) -> Completion:
    """The answer of a generation that ran here from its beginning."""
    choices = [
        _choice(
            choice.index,
            active.request.echo_of(choice.index) + choice.text,
            choice.finish_reason if choice.announced else None,
            choice.merged_logprobs,
        )
        for choice in active.choices
    ]
    return Completion(
        public_id=active.admitted.public_id,
        created=int(active.admitted.created_at.timestamp()),
        model=active.pool.id,
        endpoint=active.request.endpoint,
        choices=choices,
        usage=usage,
        error=error,
        service_tier=active.request.service_tier,
        predicted=active.predicted,
        stations=active.clock.milliseconds(),
    )


def completion_of_events(row: Generation, state: Replay) -> Completion:
    """The answer that the events of a generation tell: after a failover, in any process."""
    error = None
    if state.error is not None:
        error = error_of(
            code=str(state.error.get("code") or ""),
            message=str(state.error.get("message") or ""),
            param=state.error.get("param"),
        )
    endpoint: Endpoint = "chat" if row.endpoint == "chat" else "completion"
    return Completion(
        public_id=public_id(row.id, row.endpoint),
        created=int(row.created_at.timestamp()),
        model=row.model,
        endpoint=endpoint,
        choices=[
            _choice(index, choice.text, choice.finish_reason, choice.merged_logprobs)
            for index, choice in enumerate(state.choices)
        ],
        usage=Usage.of(row),
        error=error,
        service_tier=row.service_tier,
    )


def stored_completion(row: Generation, text: str) -> Completion:
    """The answer of a generation whose events are gone: its one text is what is stored of it."""
    reason = row.finish_reason or None
    return Completion(
        public_id=public_id(row.id, row.endpoint),
        created=int(row.created_at.timestamp()),
        model=row.model,
        endpoint="chat" if row.endpoint == "chat" else "completion",
        choices=[_choice(0, text, reason, None)],
        usage=Usage.of(row),
        service_tier=row.service_tier,
    )


def raise_without_text(completion: Completion) -> Completion:
    """`completion`, unless it failed and there is no text that was delivered and is billed.

    Raises:
        ParleyError: how it failed.
    """
    if completion.error is not None and not any(
        choice.text or choice.thought or choice.tool_calls for choice in completion.choices
    ):
        raise completion.error
    return completion


def _choice(
    index: int, text: str, finish_reason: str | None, logprobs: dict[str, Any] | None
) -> CompletionChoice:
    """Cut short is what OpenAI's "length" says; the error tells by what."""
    content, calls = split_calls(text)
    return CompletionChoice(
        index,
        content,
        finish_reason or "length",
        logprobs,
        tuple(calls),
        split_thought(text)[0],
    )
