"""Errors of Messages, in Anthropic's shape."""

from typing import Any

from backend.platform.errors import ParleyError

PATH = "/v1/messages"

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


def anthropic_error(error: ParleyError) -> dict[str, Any]:
    """The message begins with the field, as Anthropic's does; what else the error says, such as
    its code and the safety categories, is beside it."""
    kind = _TYPES.get(error.status)
    if kind is None:
        kind = "api_error" if error.status >= 500 else "invalid_request_error"
    shown = error.as_dict()["error"]
    message, param = shown["message"], shown["param"]
    if param and param not in message:
        message = f"{param}: {message}"
    return {"type": "error", "error": {**shown, "type": kind, "message": message}}


def error_for(path: str, error: ParleyError) -> dict[str, Any]:
    """The body of an error, in the shape that the programs of `path` read."""
    is_messages = path == PATH or path.startswith(f"{PATH}/")
    return anthropic_error(error) if is_messages else error.as_dict()
