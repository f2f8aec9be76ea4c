"""Every exception to HTTP, in this one place: always OpenAI's error object.

The classes below exist only in HTTP; everything else is in backend/platform/errors.py.
"""

from typing import Any, cast

import structlog
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import Error as DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from redis.exceptions import RedisError

from backend.api.error_shapes import error_for
from backend.api.validation import invalid_request_from
from backend.platform.errors import (
    AuthenticationFailed,
    InvalidRequest,
    NotFound,
    Overloaded,
    ParleyError,
    PayloadTooLarge,
)
from backend.platform.json import encode_json

logger = structlog.get_logger(__name__)


class MethodNotAllowed(ParleyError):
    status, type, code = 405, "invalid_request_error", "method_not_allowed"


class UnsupportedMediaType(ParleyError):
    status, type, code = 415, "invalid_request_error", "unsupported_media_type"


class InternalError(ParleyError):
    """Something that we did not foresee; the log has it under the request id."""


def error_response(error: ParleyError, path: str = "") -> HttpResponse:
    """The answer for one error, with `Retry-After` where a retry makes sense.

    The request's access log line gets its code. `path`: whose programs read it.
    """
    response = HttpResponse(
        encode_json(error_for(path, error)), status=error.status, content_type="application/json"
    )
    cast(Any, response).error_code = error.code
    for name, value in error.response_headers().items():
        response.headers[name] = value
    if error.status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="parley"'
    return response


def as_parley_error(error: BaseException) -> ParleyError:
    """The error object of `error`; unexpected ones are logged and reveal nothing."""
    match error:
        case ParleyError():
            return error
        case AuthenticationError():
            return AuthenticationFailed("You are not signed in, and sent no API key.")
        case HttpError() if isinstance(error.__cause__, ParleyError | RequestDataTooBig):
            # Ninja wraps what our parser raised.
            return as_parley_error(error.__cause__)
        case HttpError() if error.status_code < 500:
            return InvalidRequest(str(error))
        case DjangoValidationError():
            return InvalidRequest(" ".join(error.messages))
        case Http404():
            return NotFound("It does not exist.")
        case RequestDataTooBig():
            return PayloadTooLarge("The request body is too large. Send less.")
        case SuspiciousOperation() | MultiPartParserError():
            return InvalidRequest("The request is malformed.")
        case RedisError():
            logger.error("redis unavailable", exc_info=error)
            return Overloaded("A service we need is not available. Try again.", retry_after=2)
        case DatabaseError() if _is_unavailable(error):
            logger.error("database unavailable", exc_info=error)
            return Overloaded("A service we need is not available. Try again.", retry_after=2)
        case _:
            logger.error("unhandled error", exc_info=error)
            return InternalError(
                "Something went wrong on our side. If it happens again, report the"
                " X-Request-Id of this answer."
            )


_READ_ONLY = "25006"
"""PostgreSQL's code where it takes no writes: a standby that is about to be promoted."""


def _is_unavailable(error: DatabaseError) -> bool:
    if type(error).__name__ in {"OperationalError", "InterfaceError"}:
        return True
    return getattr(error.__cause__, "sqlstate", None) == _READ_ONLY


def _body_of(request: HttpRequest) -> bytes:
    """The body, or nothing of a form: its parts were read from the stream and are gone."""
    try:
        return request.body
    except RawPostDataException:
        return b""


def install_error_handlers(api: NinjaAPI) -> None:
    """Let `api` answer every exception through `as_parley_error`."""

    def handle(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
        assert isinstance(error, Exception)
        if isinstance(error, ValidationError):
            found = invalid_request_from(error.errors, _body_of(request))
            return error_response(found, request.path)
        return error_response(as_parley_error(error), request.path)

    for kind in (Exception, Http404, HttpError, AuthenticationError, ValidationError):
        api.add_exception_handler(kind, handle)
