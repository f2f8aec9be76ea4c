"""Headers of every part of the site, hosts, static files and last resorts."""

import socket
from urllib.parse import urlsplit

import httpx
import pytest

from backend.api.application import generation_paths
from backend.api.security import ADMIN_POLICY, DOCS_POLICY, PAGE_POLICY
from tests.api.asgi_client import AsgiClient
from tests.api.users import program

pytestmark = pytest.mark.model

CONTRACT_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none';"
    " form-action 'self'"
)


@pytest.mark.parametrize(
    "path", ["/", "/c/some-chat", "/api/me", "/v1/models", "/docs", "/admin/login/", "/nope.php"]
)
def test_every_answer_has_the_security_headers(product, path):
    headers = httpx.get(product.url + path, headers={"Origin": "https://evil.example"}).headers
    assert not [name for name in headers if name.startswith("access-control-")]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["X-DNS-Prefetch-Control"] == "off"
    assert "X-Request-Id" in headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "server" not in headers


@pytest.mark.parametrize("path", sorted(p for p in generation_paths() if p.startswith("/v1/")))
@pytest.mark.parametrize("has_key", [True, False])
def test_request_for_a_generation_gets_the_headers_of_any_other(product, key, path, has_key):
    """It passes fewer layers (backend/api/handler.py) than one with an `Idempotency-Key`."""
    shown = key if has_key else "sk-parley-unknown"
    asked = {"model": "smollm2-135m", "max_tokens": "many", "messages": "none", "input": []}
    with program(product.url, shown) as client:
        short = client.post(path, json=asked)
        whole = client.post(path, json=asked, headers={"Idempotency-Key": "layers"})
    assert short.status_code == whole.status_code == (400 if has_key else 401)
    assert short.json()["error"] == whole.json()["error"]
    assert set(short.headers) == set(whole.headers)


def test_page_policy_allows_scripts_of_its_own_origin_only(product):
    policy = httpx.get(product.url + "/").headers["Content-Security-Policy"]
    assert policy == PAGE_POLICY == CONTRACT_POLICY
    assert "unsafe" not in policy


def test_no_policy_allows_eval_or_inline_scripts(product):
    for path in ("/", "/docs", "/api/me", "/admin/login/", "/administrator", "/admin"):
        policy = httpx.get(product.url + path).headers["Content-Security-Policy"]
        assert "unsafe-eval" not in policy
        scripts = [part for part in policy.split(";") if part.strip().startswith("script-src")]
        assert all("unsafe" not in part for part in scripts)
    admin = httpx.get(product.url + "/admin/login/").headers["Content-Security-Policy"]
    assert admin == ADMIN_POLICY
    assert "script-src 'self';" in DOCS_POLICY


@pytest.mark.parametrize("path", ["/frames/diagram", "/frames/artifact", "/frames/python"])
def test_frames_of_untrusted_text_are_opaque_and_have_no_network(product, path):
    headers = httpx.get(product.url + path).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none';")
    assert "frame-ancestors 'self'" in policy
    for part in ("connect-src", "frame-src", "'unsafe-eval'", "allow-same-origin", "http", "*"):
        assert part not in policy
    assert ("worker-src" in policy) == (path == "/frames/python")
    assert "worker-src 'self'" not in policy
    assert headers["X-Frame-Options"] == "SAMEORIGIN"
    assert httpx.post(product.url + path).status_code == 405


def test_api_reference_loads_files_of_its_own_origin_only(product):
    html = httpx.get(product.url + "/docs").text
    assert "http://" not in html and "https://" not in html
    assert "<script>" not in html
    for part in html.split('"'):
        if part.startswith("/static/"):
            assert httpx.get(product.url + part).status_code == 200, part


def test_forged_host_is_refused_and_probes_answer_by_address(product):
    forged = {"Host": "evil.example"}
    for path in ("/", "/api/me", "/v1/models", "/admin/login/"):
        assert httpx.get(product.url + path, headers=forged).status_code == 400
    assert httpx.get(product.url + "/healthz", headers=forged).status_code == 200


def test_page_sets_the_csrf_cookie_and_is_revalidated(product):
    answer = httpx.get(product.url + "/settings/keys")
    assert answer.cookies["csrftoken"]
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/static/app/nope.js", "/wp-login.php", "/.env", "/favicon.ico"])
def test_missing_file_is_404_and_not_the_page(product, path):
    assert httpx.get(product.url + path).status_code == 404


@pytest.mark.parametrize("path", ["/", "/api/me", "/v1/models", "/admin/login/"])
def test_trace_is_refused_and_echoes_nothing(product, path):
    answer = httpx.request("TRACE", product.url + path, headers={"X-Echo": "echoed-back"})
    assert answer.status_code in {400, 404, 405}
    assert "echoed-back" not in answer.text


def test_request_with_two_lengths_is_refused(product):
    """What a proxy and we would cut at different places could carry another person's request."""
    address = urlsplit(product.url)
    hidden = b"0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = (
        "POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(hidden)}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        connection.sendall(head.encode() + hidden)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
    assert received.startswith(b"HTTP/1.1 400")
    assert received.count(b"HTTP/1.1") == 1


def test_page_refuses_post(product):
    assert httpx.post(product.url + "/anything", content=b"x").status_code == 405


@pytest.mark.parametrize("path", ["/v1/nope", "/api/nope", "/v1", "/api/", "/v1/chat/completions/"])
def test_unknown_api_path_is_an_error_object(product, path):
    for method in ("GET", "POST", "DELETE"):
        answer = httpx.request(method, product.url + path)
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "unknown_url"


def test_wrong_method_is_an_error_object_with_the_allowed_ones(product):
    answer = httpx.get(product.url + "/v1/embeddings")
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST"
    assert answer.json()["error"]["code"] == "method_not_allowed"


def test_crawlers_may_find_the_sign_in_and_list_no_shared_conversation(product):
    rules = httpx.get(product.url + "/robots.txt").text.splitlines()
    assert {"Disallow: /api/", "Disallow: /v1/"} <= set(rules)
    assert "Disallow: /" not in rules
    assert httpx.get(product.url + "/share/token").headers["X-Robots-Tag"] == "noindex"
    assert "X-Robots-Tag" not in httpx.get(product.url + "/login").headers


def test_static_paths_list_no_folder_and_stay_below_the_root(product):
    for path in ("/static/", "/static/../settings.py", "/static/%2e%2e/%2e%2e/etc/passwd"):
        assert httpx.get(product.url + path).status_code == 404


@pytest.mark.parametrize(
    ("seconds", "subdomains", "header"),
    [
        (31_536_000, True, "max-age=31536000; includeSubDomains"),
        (31_536_000, False, "max-age=31536000"),
        (0, True, None),
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/nope", "/v1/nope"])
@pytest.mark.usefixtures("transactional_db")
async def test_strict_transport_follows_settings(settings, path, seconds, subdomains, header):
    settings.SECURE_HSTS_SECONDS = seconds
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = subdomains
    async with AsgiClient() as client:
        answer = await client.get(path)
    assert answer.headers.get("Strict-Transport-Security") == header


@pytest.mark.parametrize("path", ["/api/me", "/api/nope", "/v1/models", "/v1/nope"])
@pytest.mark.usefixtures("transactional_db")
async def test_answers_of_the_api_are_json_and_stored_nowhere(path):
    async with AsgiClient() as client:
        answer = await client.get(path)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
