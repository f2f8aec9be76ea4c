"""No middleware takes a request through the thread-sensitive executor (docs/decisions/0030)."""

from typing import Any

import pytest
from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.test import AsyncClient
from django.utils.module_loading import import_string


async def _next(request):
    raise AssertionError("not called")


@pytest.mark.parametrize("name", settings.MIDDLEWARE)
def test_every_middleware_is_async_without_an_adapter(name):
    middleware_class = import_string(name)
    assert middleware_class.async_capable
    instance = middleware_class(_next)
    assert iscoroutinefunction(instance) or iscoroutinefunction(instance.__call__)
    if hasattr(instance, "__acall__"):
        owner = next(c for c in type(instance).__mro__ if "__acall__" in vars(c))
        assert owner.__module__ != "django.utils.deprecation", "Django's adapter hops per hook"
    for hook in ("process_view", "process_template_response", "process_exception"):
        if hasattr(instance, hook):
            assert iscoroutinefunction(getattr(instance, hook)), hook


def test_handler_wraps_no_middleware_in_an_adapter(monkeypatch):
    adapted = []
    original = ASGIHandler.adapt_method_mode

    def spy(self: Any, is_async: bool, method: Any, *args: Any, **options: Any) -> Any:
        result = original(self, is_async, method, *args, **options)
        if result is not method:
            adapted.append(method)
        return result

    monkeypatch.setattr(ASGIHandler, "adapt_method_mode", spy)
    ASGIHandler()
    assert adapted == []


async def test_request_makes_no_thread_hop_in_djangos_adapter(monkeypatch):
    def refuse(*args: Any, **kwargs: Any):
        raise AssertionError("a middleware went through sync_to_async")

    monkeypatch.setattr("django.utils.deprecation.sync_to_async", refuse)
    answer = await AsyncClient().get("/healthz")
    assert answer.status_code == 200
