"""The nginx file that we ship, in front of a real product: sockets, streams, bodies, the host."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from infra.launcher.procfile import ROOT
from infra.services.ports import LOOPBACK, accepts_connections, free_port
from infra.services.process import end_tree, spawn
from tests.api.users import Person, sign_up
from tests.support.debian_programs import debian_program
from tests.support.product import Product
from tests.support.upstream import UpstreamThread

_CONFIGURATION = ROOT / "infra" / "proxies" / "nginx.conf"
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def upstream() -> Iterator[UpstreamThread]:
    thread = UpstreamThread(rate=5.0)
    thread.start()
    yield thread
    thread.stop()
    thread.close()


@pytest.fixture(scope="module")
def address(scratch: Path, upstream: UpstreamThread) -> Iterator[str]:
    """Yield the URL of nginx; the product behind it is made for that URL."""
    nginx = debian_program("nginx", "nginx-light")
    if nginx is None:
        pytest.skip("nginx is not installed")
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    settings = {"PARLEY_PUBLIC_URL": url, "PARLEY_TRUSTED_PROXIES": "127.0.0.0/8"}
    product = Product(
        scratch / "behind-nginx", engine_url=upstream.url, background=(), settings=settings
    )
    try:
        product.start()
        process = start_nginx(nginx, scratch / "nginx", port, product.url)
        yield url
        end_tree(process.pid)
    finally:
        product.stop()


def start_nginx(nginx: str, directory: Path, port: int, web: str) -> subprocess.Popen[bytes]:
    """Start it with our file: another port without TLS, and this web process."""
    directory.mkdir()
    ours = _CONFIGURATION.read_text()
    for shipped, here in (
        ("listen 443 ssl;", f"listen {LOOPBACK}:{port};"),
        ("server_name chat.example.com;", f"server_name {LOOPBACK};"),
        ("server 127.0.0.1:8000;", f"server {web.removeprefix('http://')};"),
        ("    ssl_certificate     /etc/ssl/certs/chat.example.com.pem;\n", ""),
        ("    ssl_certificate_key /etc/ssl/private/chat.example.com.key;\n", ""),
    ):
        assert shipped in ours
        ours = ours.replace(shipped, here)
    (directory / "nginx.conf").write_text(
        f"daemon off;\npid {directory}/pid;\nerror_log {directory}/error.log;\n"
        "events {}\nhttp {\naccess_log off;\n"
        f"client_body_temp_path {directory}/body;\nproxy_temp_path {directory}/proxy;\n"
        f"{ours}}}\n"
    )
    command = [nginx, "-p", str(directory), "-c", str(directory / "nginx.conf")]
    process = spawn(command, log=directory / "log", cwd=directory)
    deadline = time.monotonic() + 10
    while not accepts_connections(port):
        assert time.monotonic() < deadline, (directory / "log").read_text()
        time.sleep(0.05)
    return process


@pytest.fixture(scope="module")
def person(address: str) -> Iterator[Person]:
    signed_up = sign_up(address)
    yield signed_up
    signed_up.browser.close()


def test_socket_of_the_page_opens(address: str, person: Person) -> None:
    cookies = "; ".join(f"{name}={value}" for name, value in person.browser.cookies.items())
    url = address.replace("http", "ws") + "/ws/events"
    with connect(url, origin=Origin(address), additional_headers={"Cookie": cookies}) as socket:
        assert socket.ping().wait(10)


def test_words_arrive_one_by_one(address: str, person: Person) -> None:
    key = person.new_key()["secret"]
    body = {"model": "auto", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.stream(
        "POST", f"{address}/v1/chat/completions", json=body, headers=headers, timeout=60
    ) as response:
        arrived = [time.monotonic() for _ in response.iter_raw()]
    assert len(arrived) > 3
    # Five words a second: what is held back to the end arrives at one moment.
    assert arrived[-1] - arrived[0] > 0.2


def test_upload_passes_and_a_larger_one_is_refused_in_json(address: str, person: Person) -> None:
    headers = {"Authorization": f"Bearer {person.new_key(scopes=['inference'])['secret']}"}
    file = {"file": ("lines.jsonl", b"x" * (30 * MEGABYTE), "application/jsonl")}
    stored = httpx.post(
        f"{address}/v1/files",
        files=file,
        data={"purpose": "batch"},
        headers=headers,
        timeout=60,
    )
    assert stored.status_code == 200, stored.text
    large = {"model": "auto", "messages": [{"role": "user", "content": "x" * (30 * MEGABYTE)}]}
    refused = httpx.post(f"{address}/v1/chat/completions", json=large, headers=headers, timeout=60)
    assert refused.status_code == 413
    assert refused.json()["error"]["code"] == "request_too_large"


def test_internal_addresses_stay_inside(address: str) -> None:
    assert httpx.get(f"{address}/metrics").status_code == 404
    assert httpx.get(f"{address}/readyz").status_code == 404
