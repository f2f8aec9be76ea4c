"""Ninja's application, with our error object where ninja has words of its own."""

import functools
import hashlib
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern
from ninja import NinjaAPI, Router
from ninja.constants import NOT_SET
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from backend.api.errors import MethodNotAllowed, error_response
from backend.api.schemas.openai_responses import ERROR_RESPONSE
from backend.platform.json import encode_json

_ERROR = {"$ref": "#/components/responses/Error"}
_ERRORS = {"4XX": _ERROR, "5XX": _ERROR}


@dataclass(frozen=True, slots=True)
class Document:
    """The OpenAPI document as it is sent."""

    body: bytes
    etag: str


class ParleyAPI(NinjaAPI):
    """Names the error object on every operation of the document, and answers 405 with it."""

    def __init__(self, **options: Any) -> None:
        self._mounted: list[tuple[str, Router, Any]] = []
        super().__init__(**options)
        self._document: Document | None = None
        self._document_lock = threading.Lock()

    def add_router(self, prefix: str, router: Any, *, auth: Any = NOT_SET, **options: Any) -> None:
        super().add_router(prefix, router, auth=auth, **options)
        self._mounted.append((prefix, router, auth))

    def authentication(self) -> dict[tuple[str, str], Any]:
        """What authenticates each operation, None where nothing does, by its method and its route
        as Django writes it."""
        return {
            (method, _django_route(prefix + path)): auth
            for prefix, router, of_router in self._mounted
            for path, view in router.path_operations.items()
            for operation in view.operations
            for auth in [_first_set(operation.auth_param, of_router, router.auth)]
            for method in operation.methods
        }

    def document(self) -> Document:
        """Build the document at the first call, in most of a second, and keep it."""
        with self._document_lock:
            if self._document is None:
                body = encode_json(self.get_openapi_schema())
                etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
                self._document = Document(body, etag)
            return self._document

    def get_openapi_schema(self, *args: Any, **kwargs: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(*args, **kwargs)
        document["components"]["responses"] = {"Error": ERROR_RESPONSE}
        for operations in document["paths"].values():
            for operation in operations.values():
                # Ninja writes them as numbers; in JSON, and in OpenAPI, keys are texts.
                own = {str(code): body for code, body in operation.get("responses", {}).items()}
                operation["responses"] = {**_ERRORS, **own}
        return document

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_root_path(self, path_params: dict[str, Any]) -> str:
        return "/"

    def _get_urls(self) -> list[Any]:
        patterns = [p for p in super()._get_urls() if isinstance(p, URLPattern)]
        routes = [p for p in patterns if p.name != "api-root"]  # the page has the root
        for pattern in routes:
            pattern.callback = _with_error_objects(pattern.callback)
        return routes


def _django_route(path: str) -> str:
    return path.replace("//", "/").replace("{", "<").replace("}", ">").strip("/")


View = Callable[..., Awaitable[HttpResponseBase]]


def _with_error_objects(view: View) -> View:
    """`view`, with ninja's plain 405 in the usual shape."""

    @functools.wraps(view)
    async def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = await view(request, *args, **kwargs)
        if response.status_code != MethodNotAllowed.status:
            return response
        allowed = response.headers["Allow"]
        return error_response(
            MethodNotAllowed(
                f"{request.method} is not allowed here; allowed: {allowed}.",
                headers={"Allow": allowed},
            )
        )

    return wrapped


def _first_set(*auths: Any) -> Any:
    """Return the first that was given: an operation's counts before its router's. None without."""
    return next((auth for auth in auths if auth is not NOT_SET), None)
