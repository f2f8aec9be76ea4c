"""What route a path has is looked for once (backend/api/handler.py)."""

import uuid

import pytest
from django.test import RequestFactory
from django.urls import get_resolver

from backend.api.handler import _KEPT_PATH, _KEPT_ROUTES, Handler, _kept_route


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/healthz", "/api/me", "/v1/models", "/admin/", "/admin/nothing", "/api/nothing"),
        *(f"/api/conversations/{uuid.uuid4()}", f"/c/{uuid.uuid4()}"),
        "/" + "long/" * _KEPT_PATH,
    ],
)
def test_route_that_is_kept_is_the_one_that_django_finds(path: str) -> None:
    found = get_resolver().resolve(path)
    for _ in range(2):
        request = RequestFactory().get(path)
        kept = Handler().resolve_request(request)
        assert (kept.func, kept.args, kept.kwargs, kept.route) == (
            found.func,
            found.args,
            found.kwargs,
            found.route,
        )
        assert request.resolver_match is kept


def test_many_different_paths_fill_no_memory() -> None:
    handler, requests = Handler(), RequestFactory()
    _kept_route.cache_clear()
    for number in range(_KEPT_ROUTES + 10):
        handler.resolve_request(requests.get(f"/c/{number}"))
    handler.resolve_request(requests.get("/c/" + "x" * _KEPT_PATH))

    kept = _kept_route.cache_info()
    assert kept.currsize == kept.maxsize == _KEPT_ROUTES
    assert _kept_route("/c/1").tried is None
