"""Probes and metrics."""

import os

import httpx
import psycopg
import pytest
from django.db import InternalError

from backend.api.errors import as_parley_error

pytestmark = pytest.mark.model


def test_healthz_and_readyz_answer_200_when_all_services_run(product):
    assert httpx.get(f"{product.url}/healthz").text == "ok\n"
    ready = httpx.get(f"{product.url}/readyz")
    assert ready.status_code == 200
    body = ready.json()
    assert body["ready"] is True
    assert {name for name, check in body["checks"].items() if check["required"]} == {
        "database",
        "redis",
    }
    assert body["checks"]["replicas"]["ok"] is True


def test_metrics_count_routes_and_not_paths(product, api_client):
    api_client.get("/api/conversations/00000000-0000-4000-8000-000000000000")
    api_client.request("INVENTED", "/api/me")
    text = httpx.get(f"{product.url}/metrics").text
    assert 'route="/api/conversations/<uuidstr:conversation_id>"' in text
    assert "00000000-0000-4000" not in text
    assert "INVENTED" not in text


def test_plain_request_for_the_socket_gets_426(product):
    answer = httpx.get(f"{product.url}/ws/events")
    assert answer.status_code == 426
    assert answer.headers["Upgrade"] == "websocket"


def test_read_only_database_is_a_service_away(services):
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("SET default_transaction_read_only = on")
        connection.commit()
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as refused:
            connection.execute("CREATE TABLE refused ()")
    error = InternalError(str(refused.value))
    error.__cause__ = refused.value
    assert as_parley_error(error).status == 503
