"""Requests that are too large, malformed or of a wrong type: always a typed 4xx."""

import socket
from urllib.parse import quote, urlsplit

import httpx
import pytest

pytestmark = pytest.mark.model

MIB = 1024 * 1024


def error_of(answer: httpx.Response) -> dict:
    error = answer.json()["error"]
    assert set(error) >= {"message", "type", "code", "param"}
    return error


def test_body_is_413_before_it_is_sent_when_content_length_is_over_the_limit(product):
    parts = urlsplit(product.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        connection.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n"
        )
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_chunked_body_is_413_when_over_the_limit(api_client):
    def chunks():
        for _ in range(6):
            yield b" " * MIB

    answer = api_client.post(
        "/v1/chat/completions", content=chunks(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413
    assert error_of(answer)["code"] == "payload_too_large"
    assert answer.headers["X-Request-Id"]


def test_upload_has_a_larger_limit_than_other_bodies(person):
    text = b"word " * (1024 * 1024 // 5)
    assert (
        person.browser.post("/api/attachments", files={"file": ("a.txt", text)}).status_code == 201
    )
    too_much = person.browser.post(
        "/api/attachments", files={"file": ("a.bin", b"\x00" * (11 * MIB))}
    )
    assert too_much.status_code == 413


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"3", b'"x"', b"null", b"\xff", b'{"model": NaN}', b'{"a": "\\ud800"}'],
)
def test_body_is_400_when_not_a_json_object(api_client, body):
    answer = api_client.post(
        "/v1/chat/completions", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400
    error_of(answer)


def test_empty_body_is_400(api_client):
    assert api_client.post("/v1/chat/completions").status_code == 400


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded"])
def test_body_is_415_when_not_json(api_client, content_type):
    answer = api_client.post(
        "/v1/chat/completions", content=b"{}", headers={"Content-Type": content_type}
    )
    assert answer.status_code == 415
    assert error_of(answer)["code"] == "unsupported_media_type"


@pytest.mark.parametrize("value", ["x\x00y", "\x00"])
def test_nul_character_is_400_in_any_field(api_client, value):
    assert api_client.get("/api/conversations", params={"search": value}).status_code == 400
    assert api_client.post("/api/conversations", json={"title": value}).status_code == 400
    for path in ("/api/shared/", "/v1/models/", "/c/"):
        assert api_client.get(path + quote(value)).status_code == 400


@pytest.mark.parametrize("seq", ["-1", "x", "1.5", "9" * 30, "0" * 5000, "٣", "1\x00"])
def test_resume_point_is_400_when_not_an_event_id(api_client, seq):
    path = "/api/generations/00000000-0000-4000-8000-000000000000/events"
    assert api_client.get(path, params={"after": seq}).status_code == 400


def test_malformed_id_is_404(api_client):
    answer = api_client.get("/api/conversations/not-a-uuid")
    assert answer.status_code == 404
    error_of(answer)


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "cursor=nope"])
def test_invalid_query_names_the_parameter(api_client, query):
    answer = api_client.get(f"/api/conversations?{query}")
    assert answer.status_code == 400
    assert error_of(answer)["param"] == query.split("=")[0]


@pytest.mark.parametrize("body", [b"--b--\r\n", b"--b\r\n", b"", b"no boundary anywhere"])
def test_form_without_a_file_names_the_field(api_client, body):
    answer = api_client.post(
        "/api/attachments",
        content=body,
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )

    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "file"


def test_form_with_a_hostile_boundary_is_400(api_client):
    answer = api_client.post(
        "/api/attachments",
        content=b"x",
        headers={"Content-Type": "multipart/form-data; boundary=" + "b" * 300},
    )

    assert answer.status_code == 400
