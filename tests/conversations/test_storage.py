"""`STORAGE_URL`: uploads in S3, held against a real S3 server."""

import io
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from botocore.exceptions import ClientError
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages
from django.test import override_settings
from structlog.testing import capture_logs

from backend.conversations.attachments import attachment_create
from backend.platform.errors import StorageUnavailable
from backend.storage import storage_backend
from infra.services.ports import free_port
from infra.services.process import end_tree, spawn, tail
from tests.api.test_chat_page import messages_of
from tests.api.users import Person, program, sign_up
from tests.factories import member
from tests.support.processes import PYTHON
from tests.support.product import Product
from tests.support.upstream import UpstreamThread

BUCKET = "uploads"


@dataclass(frozen=True)
class S3:
    url: str
    server: subprocess.Popen[bytes]


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    """An S3 server with one bucket and one pair of credentials, which are in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "parley")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret of the test")
    files = tmp_path / "s3"
    (files / BUCKET).mkdir(parents=True)
    address = f"127.0.0.1:{free_port()}"
    program = PYTHON.with_name("rclone")
    log = tmp_path / "rclone.log"
    server = spawn(
        [
            *(str(program), "serve", "s3", str(files), "--addr", address),
            *("--auth-key", "parley,a secret of the test", "--vfs-cache-mode", "off"),
        ],
        log=log,
        environment={**os.environ, "RCLONE_CONFIG": os.devnull},
        death_signal=signal.SIGKILL,
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 60
    while True:
        try:
            httpx.get(f"http://{address}")
            break
        except httpx.HTTPError:
            assert server.poll() is None and time.monotonic() < deadline, tail(log, lines=20)
            time.sleep(0.1)
    yield S3(f"s3://{BUCKET}/parley?endpoint=http://{address}&region=us-east-1", server)
    end_tree(server.pid, stop_signal=signal.SIGKILL)
    server.wait()


@pytest.fixture
def in_s3(s3: S3, tmp_path: Path) -> Iterator[Path]:
    """The product with `STORAGE_URL` set; the bucket's folder."""
    with override_settings(STORAGES={"default": storage_backend(s3.url, directory=tmp_path)}):
        yield tmp_path / "s3" / BUCKET


@pytest.mark.django_db
def test_upload_is_stored_in_the_bucket_and_read_back(in_s3: Path) -> None:
    text = "Grüße aus dem Eimer.\n".encode()
    attachment = attachment_create(principal=member(), filename="a.txt", file=io.BytesIO(text))

    [lies] = [path for path in in_s3.rglob("*") if path.is_file()]
    assert lies.relative_to(in_s3).parts[:2] == ("parley", "attachments")
    assert lies.read_bytes() == text
    with attachment.file.open("rb") as file:
        assert file.read() == text

    assert attachment.file.name is not None
    attachment.file.storage.delete(attachment.file.name)
    assert not lies.exists()


def test_wrong_credentials_are_not_read_as_an_empty_bucket(
    in_s3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another secret")
    with pytest.raises(StorageUnavailable) as refused, capture_logs() as logs:
        storages["default"].open("parley/attachments/a.txt").read()
    assert isinstance(refused.value.__cause__, ClientError)
    [line] = logs
    assert (line["event"], line["status"]) == ("storage_refused", 403)
    assert "STORAGE_URL" in line["hint"]


def test_missing_file_is_no_storage_failure(in_s3: Path) -> None:
    with pytest.raises(FileNotFoundError):
        storages["default"].open("attachments/none.txt")
    assert not storages["default"].exists("attachments/none.txt")


def status_of(person: Person, path: str) -> tuple[int, str]:
    """The status, and the code of an error."""
    answer = person.browser.get(path, timeout=90)
    error = {} if answer.status_code == 200 else answer.json()["error"]
    return answer.status_code, str(error.get("code", ""))


@pytest.fixture
def owner(s3: S3, scratch: Path, upstream: UpstreamThread) -> Iterator[Person]:
    """Somebody in a product whose uploads are in the S3 server."""
    credentials = {name: os.environ[name] for name in os.environ if name.startswith("AWS_")}
    product = Product(
        scratch / f"s3-{s3.server.pid}",
        engine_url=upstream.url,
        background=(),
        settings={"STORAGE_URL": s3.url, **credentials},
    )
    try:
        product.start()
        yield sign_up(product.url)
    finally:
        product.stop()


def upload(person: Person) -> str:
    made = person.browser.post("/api/attachments", files={"file": ("a.txt", b"A harbour.")})
    return str(made.json()["id"])


def thaw(s3: S3, person: Person, path: str) -> None:
    s3.server.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + 60
    while status_of(person, path) != (200, ""):
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_frozen_storage_holds_up_nothing_but_files(s3: S3, owner: Person) -> None:
    """As by SIGSTOP, or a network that carries nothing any more."""
    path = f"/api/attachments/{upload(owner)}"
    with program(str(owner.browser.base_url), owner.new_key()["secret"]) as client:
        lines = {"file": ("in.jsonl", b'{"a": 1}')}
        stored = client.post("/v1/files", files=lines, data={"purpose": "batch"}).json()["id"]
        assert client.get(f"/v1/files/{stored}/content").content == b'{"a": 1}'
    assert status_of(owner, path) == (200, "")
    s3.server.send_signal(signal.SIGSTOP)
    with ThreadPoolExecutor(30) as pool:
        reading = [pool.submit(status_of, owner, path) for _ in range(30)]
        while not all(one.done() for one in reading):
            assert status_of(owner, "/api/conversations") == (200, "")
            assert owner.browser.get("/readyz").status_code == 200
    assert {one.result() for one in reading} == {(503, "storage_unavailable")}
    thaw(s3, owner, path)


def test_prompt_is_kept_when_its_file_is_not_read(s3: S3, owner: Person) -> None:
    """The turn is committed first, so no transaction is open while the storage does not answer."""
    attachment_id, chat = upload(owner), owner.new_conversation()
    text = {"type": "text", "text": "What is this?"}
    body = {"content": [text, {"type": "file", "attachment_id": attachment_id}]}
    s3.server.send_signal(signal.SIGSTOP)
    refused = owner.browser.post(f"/api/conversations/{chat}/messages", json=body, timeout=90)
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "storage_unavailable"
    [prompt, answer] = messages_of(owner, chat)
    assert (prompt["content"], answer["status"]) == (text["text"], "failed")

    thaw(s3, owner, f"/api/attachments/{attachment_id}")
    again = owner.browser.post(f"/api/messages/{answer['id']}/regenerate", json={})
    assert again.status_code == 200, again.text
    [prompt, answer] = messages_of(owner, chat)
    assert answer["status"] == "completed"
    sent = owner.browser.get(f"/api/messages/{answer['id']}/sent").json()
    assert "A harbour." in sent["messages"][-1]["text"]


@pytest.mark.parametrize(
    "url", ["/srv/files", "s3://", "https://host/bucket", "s3://bucket?endpont=http://host"]
)
def test_malformed_storage_url_is_refused_with_the_right_form(url: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"s3://bucket\[/prefix\]"):
        storage_backend(url, directory=tmp_path)
