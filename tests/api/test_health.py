"""Probes and metrics."""

import httpx
import pytest

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
