"""Log lines: JSON, with the request id, without secrets."""

import io
import json
import logging

import pytest
import structlog

from backend import logs
from backend.accounts.keys import secret_generate
from tests.api.asgi_client import AsgiClient


@pytest.fixture
def lines(settings):
    """The lines that both logging systems write, formatted as in production."""
    logs.configure({"level": "INFO", "format": "json"})
    handler = next(h for h in logging.getLogger().handlers if isinstance(h, logging.StreamHandler))
    stream = io.StringIO()
    original = handler.setStream(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    handler.setStream(original)
    structlog.contextvars.clear_contextvars()
    logs.configure(settings.LOGGING)


def test_structlog_and_stdlib_logs_carry_the_request_id(lines):
    structlog.contextvars.bind_contextvars(request_id="req-1")
    structlog.get_logger("ours").info("event_name", number=1)
    logging.getLogger("theirs").warning("happened %d times", 2)
    ours, theirs = lines()
    assert ours["request_id"] == theirs["request_id"] == "req-1"
    assert (ours["event"], ours["number"], ours["level"]) == ("event_name", 1, "info")
    assert theirs["event"] == "happened 2 times"
    assert all(line["timestamp"].endswith("Z") for line in (ours, theirs))


@pytest.mark.usefixtures("transactional_db")
async def test_refused_requests_are_logged_with_who_asked_what_and_why(lines):
    address = "198.51.100.77"
    async with AsgiClient(address) as client:
        for _ in range(300):
            secret = secret_generate()
            answer = await client.get("/v1/models", headers={"Authorization": f"Bearer {secret}"})
            if answer.status_code == 429:
                break
        assert answer.status_code == 429
    logged = [line for line in lines() if line["event"] == "request"]
    found = {(line["status"], line["error_code"]) for line in logged}
    assert found == {(401, "invalid_api_key"), (429, answer.json()["error"]["code"])}
    assert {line["client"] for line in logged} == {address}
    assert {line["route"] for line in logged} == {"/v1/models"}
    assert all(line["request_id"] and line["timestamp"].endswith("Z") for line in logged)


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize(
    "path",
    [
        "/share/{}",
        "/api/shared/{}",
        "/api/shared/{}/copy",
        "/SHARE/{}",
        "/api/exports/download?token={}",
        "/api/sso/oidc/callback?state={}",
        "/confirm-address/{}",
    ],
)
async def test_no_log_line_holds_token_of_address(lines, path):
    token = "tokenthatopensaconversation"
    async with AsgiClient() as client:
        await client.get(path.format(token))
    written = json.dumps(lines())
    assert '"event": "request"' in written
    assert token not in written


@pytest.mark.usefixtures("transactional_db")
async def test_request_log_line_names_ids(lines):
    path = "/api/conversations/0193d1a7-0000-7000-8000-000000000000"
    async with AsgiClient() as client:
        await client.get(path)
        await client.get("/api/me")
    assert [line["path"] for line in lines() if line["event"] == "request"] == [path, "/api/me"]


@pytest.mark.usefixtures("transactional_db")
async def test_unexpected_error_is_logged_and_not_shown(lines, monkeypatch):
    async def fail(*args: object) -> None:
        raise RuntimeError("the inner workings")

    monkeypatch.setattr("backend.api.throttling.count_login", fail)
    async with AsgiClient() as client:
        await client.get("/login")
        answer = await client.sign_in("ada@example.org", "a password")
    assert answer.status_code == 500
    assert "inner workings" not in answer.text
    [line] = [line for line in lines() if line["event"] == "unhandled error"]
    assert line["request_id"] == answer.headers["X-Request-Id"]
    assert "the inner workings" in json.dumps(line)


def test_line_break_begins_no_line(lines):
    forged = 'x\n{"event": "request", "status": 200}\r\n'
    structlog.get_logger("ours").info("refused", header=forged)
    logging.getLogger("theirs").warning("refused %s", forged)
    assert [line["event"] for line in lines()] == ["refused", f"refused {forged}"]


def test_token_of_shared_conversation_is_redacted(lines):
    for path in ("/share/a-token", "/api/shared/a-token/copy"):
        logging.getLogger("django.request").error("Internal Server Error: %s", path)
    assert [line["event"] for line in lines()] == [
        "Internal Server Error: /share/[redacted]",
        "Internal Server Error: /api/shared/[redacted]/copy",
    ]


def test_api_key_is_redacted_in_messages_fields_and_tracebacks(lines):
    secret = secret_generate()
    logging.getLogger("theirs").warning("Bearer %s was refused", secret)
    structlog.get_logger("ours").info("refused", header=f"Bearer {secret}")
    try:
        raise ValueError(f"bad key {secret}")
    except ValueError:
        logging.getLogger("theirs").exception("failed")
    written = lines()
    assert len(written) == 3
    assert secret not in json.dumps(written)
    assert all("sk-parley-[redacted]" in json.dumps(line) for line in written)
