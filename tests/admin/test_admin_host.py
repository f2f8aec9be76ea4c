"""PARLEY_ADMIN_HOST: the admin under one name, nothing else under it."""

from typing import Any

import pytest
from django.test import Client

from backend.api.websocket import websocket_application

pytestmark = pytest.mark.django_db

STAFF, PAGE = "admin.example.com", "chat.example.com"
ADMIN = ["/admin", "/admin/", "/admin/accounts/user/"]
OTHERS = [
    "/",
    "/api/me",
    "/v1/models",
    "/openapi.json",
    "/docs",
    "/robots.txt",
    "/manifest.webmanifest",
    "/share/token",
    "/administrator",
    "/Admin/",
    "//admin/",
]


@pytest.fixture
def hosts(settings: Any) -> None:
    settings.ADMIN_HOST = STAFF
    settings.ALLOWED_HOSTS = [STAFF, PAGE]


def status(host: str, path: str) -> int:
    return Client().get(path, headers={"host": host}).status_code


@pytest.mark.parametrize("path", ADMIN)
def test_admin_is_under_its_own_name_only(hosts: None, path: str) -> None:
    assert status(STAFF, path) in {301, 302}
    for host in (PAGE, f"{PAGE}:8000"):
        assert status(host, path) == 404


@pytest.mark.parametrize("host", [STAFF, STAFF.upper(), f"{STAFF}:8443"])
@pytest.mark.parametrize("path", OTHERS)
def test_admin_host_serves_nothing_else(hosts: None, host: str, path: str) -> None:
    assert status(host, path) == 404


@pytest.mark.parametrize("path", OTHERS)
def test_refused_path_has_the_security_headers(hosts: None, path: str) -> None:
    answer = Client().get(path, headers={"host": STAFF})
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


def test_probes_answer_under_every_name(hosts: None) -> None:
    assert {status(host, "/healthz") for host in (STAFF, PAGE, "10.0.0.7")} == {200}


def test_other_hosts_stay_unknown(hosts: None) -> None:
    assert status("evil.example", "/admin/") == 400


def test_port_in_the_setting_counts(settings: Any) -> None:
    settings.ADMIN_HOST, settings.ALLOWED_HOSTS = "localhost:9000", ["localhost"]
    assert status("localhost:9000", "/admin/") == 302
    assert status("localhost:8000", "/admin/") == 404


def test_without_the_setting_every_host_serves_the_admin(settings: Any) -> None:
    settings.ADMIN_HOST, settings.ALLOWED_HOSTS = "", [STAFF, PAGE]
    assert status(PAGE, "/admin/") == status(STAFF, "/admin/") == 302


@pytest.mark.parametrize("host", [STAFF, f"{STAFF}:443"])
async def test_admin_host_takes_no_websocket(hosts: None, host: str) -> None:
    headers = [(b"host", host.encode()), (b"origin", f"http://{host}".encode())]
    scope = {"type": "websocket", "path": "/ws/events", "headers": headers}
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await websocket_application(scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 4403}]
