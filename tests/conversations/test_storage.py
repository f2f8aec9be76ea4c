"""`STORAGE_URL`: uploads in S3, held against a real S3 server."""

import io
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from botocore.exceptions import ClientError
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages
from django.test import override_settings

from backend.conversations.attachments import attachment_create
from backend.storage import storage_backend
from infra.services.ports import free_port
from infra.services.process import end_tree, spawn, tail
from tests.factories import member
from tests.support.processes import PYTHON

BUCKET = "uploads"


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
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
    yield f"http://{address}"
    end_tree(server.pid, stop_signal=signal.SIGKILL)
    server.wait()


@pytest.fixture
def in_s3(endpoint: str, tmp_path: Path) -> Iterator[Path]:
    """The product with `STORAGE_URL` set; the bucket's folder."""
    url = f"s3://{BUCKET}/parley?endpoint={endpoint}&region=us-east-1"
    with override_settings(STORAGES={"default": storage_backend(url, directory=tmp_path)}):
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
    with pytest.raises(ClientError, match=r"SignatureDoesNotMatch|Forbidden|AccessDenied"):
        storages["default"].open("parley/attachments/a.txt").read()


@pytest.mark.parametrize(
    "url", ["/srv/files", "s3://", "https://host/bucket", "s3://bucket?endpont=http://host"]
)
def test_malformed_storage_url_is_refused_with_the_right_form(url: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"s3://bucket\[/prefix\]"):
        storage_backend(url, directory=tmp_path)
