"""The whole answer of an ended generation, for callers that do not stream."""

from backend.generation.models import Generation
from backend.generation.request import Completion, CompletionChoice, Endpoint, Usage
from backend.generation.stream.replay import Replay
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


def completion_of(row: Generation, state: Replay, *, public_id: str) -> Completion:
    """The answer that `state` holds.

    Raises:
        ParleyError: it failed, and there is no text that was delivered and is billed.
    """
    error = None
    if state.error is not None:
        error = error_of(
            code=str(state.error.get("code") or ""),
            message=str(state.error.get("message") or ""),
            param=state.error.get("param"),
        )
        if not any(choice.text for choice in state.choices):
            raise error
    endpoint: Endpoint = "chat" if row.endpoint == "chat" else "completion"
    return Completion(
        public_id=public_id,
        created=int(row.created_at.timestamp()),
        model=row.model,
        endpoint=endpoint,
        choices=[
            # Cut short is what OpenAI's "length" says; `error` tells by what.
            CompletionChoice(
                index, choice.text, choice.finish_reason or "length", choice.merged_logprobs
            )
            for index, choice in enumerate(state.choices)
        ],
        usage=Usage(row.input_tokens, row.cached_input_tokens, row.output_tokens),
        error=error,
    )
