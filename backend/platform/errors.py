"""The one hierarchy of errors that reach a client, in OpenAI's shape.

Anything a caller may see is a `ParleyError`; `backend.api` maps it to HTTP in one place and
the gateway maps it to a stream event. Source of names and codes: OpenAI API reference, "Error
codes", https://platform.openai.com/docs/guides/error-codes.
"""

import math
from typing import Any


class ParleyError(Exception):
    """An error that a client sees.

    Args:
        message: what happened, with which value, and what to do. Shown to the client.
        param: the request field at fault, where there is one.
        code: machine-readable cause; the class gives the usual one.
        retry_after: seconds after which a retry makes sense (429 and 503).
        headers: further response headers, such as `x-ratelimit-*`.
        details: further fields of the error object, such as the safety categories.
    """

    status = 500
    type = "server_error"
    code: str | None = "internal_error"

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        headers: dict[str, str] | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code or type(self).code
        self.retry_after = retry_after
        self.headers = headers or {}
        self.details = details or {}

    def response_headers(self) -> dict[str, str]:
        """`headers`, and `Retry-After` where a retry makes sense."""
        if self.retry_after is None:
            return self.headers
        return {**self.headers, "Retry-After": str(max(1, math.ceil(self.retry_after)))}

    def as_dict(self) -> dict[str, Any]:
        """`{"error": {"message", "type", "code", "param", ...details}}`."""
        return {
            "error": {
                "message": self.message,
                "type": self.type,
                "code": self.code,
                "param": self.param,
                **self.details,
            }
        }


class InvalidRequest(ParleyError):
    status, type, code = 400, "invalid_request_error", "invalid_request"


class ContentBlocked(ParleyError):
    """The prompt was refused by the pre-classifier; no engine saw it."""

    status, type, code = 400, "invalid_request_error", "content_policy_violation"

    def __init__(self, refusal: str, *, categories: list[str], param: str | None = None) -> None:
        """
        Args:
            refusal: the beginning of the message, as "This prompt was refused". A text about
                self-harm breaks no rule: the error offers help instead.
        """
        found = f" ({', '.join(categories)})" if categories else ""
        is_self_harm = "self_harm" in categories
        super().__init__(
            SUPPORT if is_self_harm else f"{refusal} by the usage policy{found}.",
            param=param,
            code=SUPPORT_CODE if is_self_harm else None,
            details={"categories": categories},
        )


SUPPORT_CODE = "self_harm_support"
SUPPORT = (
    "It sounds like you may be going through a very hard time, and you don't have to face it alone."
    " Please talk to someone now: in the US and Canada call or text 988, in the UK and Ireland call"
    " 116 123; https://findahelpline.com lists help in other countries. If you are in immediate"
    " danger, call your local emergency number."
)


class ContextLengthExceeded(InvalidRequest):
    code = "context_length_exceeded"


class AuthenticationFailed(ParleyError):
    status, type, code = 401, "authentication_error", "invalid_api_key"


class PermissionDenied(ParleyError):
    status, type, code = 403, "permission_error", "permission_denied"


class OrganizationSuspended(PermissionDenied):
    """The caller's organization is not served; the message gives the operator's reason."""

    code = "organization_suspended"


class TermsNotAccepted(PermissionDenied):
    """There is a version of the terms that the caller has not accepted."""

    code = "terms_not_accepted"


class NotFound(ParleyError):
    """It does not exist, or not for this caller: the two are never told apart."""

    status, type, code = 404, "invalid_request_error", "not_found"


class ModelNotFound(NotFound):
    code = "model_not_found"


class Conflict(ParleyError):
    status, type, code = 409, "invalid_request_error", "conflict"


class LegallyHeld(Conflict):
    """A legal hold keeps what was to be erased."""

    code = "legal_hold"


class PayloadTooLarge(ParleyError):
    status, type, code = 413, "invalid_request_error", "payload_too_large"


class RateLimited(ParleyError):
    status, type, code = 429, "rate_limit_error", "rate_limit_exceeded"


class InsufficientQuota(ParleyError):
    """A hard budget or prepaid credit is used up."""

    status, type, code = 429, "insufficient_quota", "insufficient_quota"


class UpstreamFailed(ParleyError):
    """Every replica that could take the generation failed."""

    status, type, code = 502, "server_error", "upstream_failed"


class Overloaded(ParleyError):
    status, type, code = 503, "server_error", "overloaded"


class StorageUnavailable(ParleyError):
    """The storage of files does not answer."""

    status, type, code = 503, "server_error", "storage_unavailable"


class GenerationTimeout(ParleyError):
    status, type, code = 504, "server_error", "timeout"
