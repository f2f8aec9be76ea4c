"""Every failure that a client of the engine can see, each with its HTTP status.

Code raises the most specific of these where the fault is known; `server/http.py` is
the one place that turns them into OpenAI error objects.
"""

from __future__ import annotations


class InferenceError(Exception):
    """Base of all errors that are answered to a client."""

    status = 500
    type = "server_error"
    code: str | None = None

    def __init__(
        self, message: str, *, param: str | None = None, retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.retry_after_s = retry_after_s


class InvalidRequestError(InferenceError):
    """The request can never succeed as it is; `param` names what to change."""

    status = 400
    type = "invalid_request_error"
    code = "invalid_value"


class ContextLengthError(InvalidRequestError):
    """Prompt and asked-for tokens do not fit the model's context."""

    code = "context_length_exceeded"


class ModelNotFoundError(InferenceError):
    """The named model is not the one served here."""

    status = 404
    type = "invalid_request_error"
    code = "model_not_found"


class AdapterError(InvalidRequestError):
    """An adapter cannot be used: its files are damaged, of another kind, or for another model."""

    code = "invalid_adapter"


class AdapterInUseError(InferenceError):
    """An adapter of that name is there already, or all that may be loaded at once are in use."""

    status = 409
    type = "invalid_request_error"
    code = "adapter_in_use"


class QueueFullError(InferenceError):
    """Too many requests wait already; come back after `retry_after_s`."""

    status = 503
    type = "overloaded_error"
    code = "queue_full"


class QueueTimeoutError(InferenceError):
    """The request waited as long as the server lets any wait, and has not begun."""

    status = 503
    type = "overloaded_error"
    code = "queue_timeout"


class DrainingError(InferenceError):
    """The engine finishes what runs and takes nothing new."""

    status = 503
    type = "overloaded_error"
    code = "draining"


class EngineDeadError(InferenceError):
    """The engine core process is gone or could not go on."""

    status = 503
    type = "server_error"
    code = "engine_unavailable"


class StepFailedError(InferenceError):
    """The step that computed this request failed; others were not touched."""

    status = 500
    code = "engine_step_failed"


class LogitsNotFiniteError(ValueError):
    """The model's logits after a request's tokens hold NaN or infinity: nothing can be sampled."""


class EngineBrokenError(Exception):
    """Step after step fails: only a new core process can help."""


class ModelLoadError(Exception):
    """The weights cannot be read, or describe a model that we do not implement."""
