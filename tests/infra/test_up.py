"""`manage.py up` fails with one sentence, never with a traceback, and leaves nothing behind."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from backend.platform.keys import Keyring, Purpose
from infra.launcher import environment
from infra.launcher.errors import LaunchError
from infra.launcher.model import is_present, model_file
from infra.launcher.procfile import ROOT
from infra.services.ports import LOOPBACK, free_port


def up(var: Path, port: int, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    for name in ("DATABASE_URL", "REDIS_URL", "KAFKA_BOOTSTRAP_SERVERS"):
        own.pop(name, None)
    return subprocess.run(
        [sys.executable, "manage.py", "up", "--model", "small", "--port", str(port)],
        cwd=ROOT,
        env={**own, "PARLEY_VAR": str(var), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_unknown_model_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "up", "--model", "gpt-9"],
        cwd=ROOT,
        env={**os.environ, "PARLEY_VAR": str(tmp_path / "var")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "There is no model 'gpt-9': MODEL is one of small, qwen2.5-coder-1.5b." in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "var").exists()


def test_busy_port_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        done = up(tmp_path / "var", port)
    assert done.returncode == 1
    assert f"Port {port} is already in use" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DATABASE_URL", "postgresql://parley:secret-password@127.0.0.1:{port}/parley"),
        ("REDIS_URL", "redis://:secret-password@127.0.0.1:{port}/0"),
        ("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:{port}"),
    ],
)
def test_unreachable_configured_service_is_reported_in_one_sentence(
    tmp_path: Path, variable: str, value: str
) -> None:
    done = up(tmp_path / "var", free_port(), **{variable: value.format(port=free_port())})
    assert done.returncode == 1
    assert f"{variable} is set, but" in done.stdout
    assert "secret-password" not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "var" / "services").exists(), "nothing was started in its place"


def test_secrets_are_made_once_and_kept_private(tmp_path: Path) -> None:
    first = environment.generated_secrets(tmp_path, {})
    made = (tmp_path / "keys").read_text()
    assert environment.generated_secrets(tmp_path, {}) == first
    tokens = {"PARLEY_OUTBOX_TOKEN", "PARLEY_ENGINE_API_KEY"}
    assert first.keys() == {"PARLEY_KEYS_FILE", *tokens}
    assert first["PARLEY_KEYS_FILE"] == str(tmp_path / "keys")
    assert all(len(first[name]) >= 32 for name in tokens)
    assert (tmp_path / "secrets.json").stat().st_mode & 0o077 == 0
    assert (tmp_path / "keys").read_text() == made
    assert len(Keyring(file=Path(first["PARLEY_KEYS_FILE"])).key(Purpose.SIGNING)) == 32
    assert (tmp_path / "keys").stat().st_mode & 0o077 == 0


def test_configured_keys_are_not_shadowed_by_generated_ones(tmp_path: Path) -> None:
    made = environment.generated_secrets(tmp_path, {"PARLEY_KEYS": "1:configured"})
    assert made.keys() == {"PARLEY_OUTBOX_TOKEN", "PARLEY_ENGINE_API_KEY"}
    assert not (tmp_path / "keys").exists()


def test_secret_key_of_the_release_before_reads_on_as_version_0(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text(json.dumps({"PARLEY_SECRET_KEY": "of before"}))
    made = environment.generated_secrets(tmp_path, {})
    ring = Keyring(file=Path(made["PARLEY_KEYS_FILE"]), secret_key=made["PARLEY_SECRET_KEY"])
    assert (sorted(ring.versions()), ring.writing()) == ([0, 1], 1)
    assert ring.django_key(0) == "of before"


def test_other_commands_find_the_services_of_the_running_product(tmp_path: Path) -> None:
    environment.publish(tmp_path, {"REDIS_URL": "redis://embedded", "DATABASE_URL": "embedded"})
    other = {"PARLEY_VAR": str(tmp_path), "DATABASE_URL": "configured"}
    environment.adopt_running(other)
    assert other["REDIS_URL"] == "redis://embedded"
    assert other["DATABASE_URL"] == "configured", "a configured URL is never shadowed"

    environment.withdraw(tmp_path)
    later = {"PARLEY_VAR": str(tmp_path)}
    environment.adopt_running(later)
    assert "REDIS_URL" not in later


def test_second_launcher_of_one_clone_is_refused(tmp_path: Path) -> None:
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        record = {
            "pid": sleeper.pid,
            "started": psutil.Process(sleeper.pid).create_time(),
            "variables": {},
        }
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "environment.json").write_text(json.dumps(record))
        with pytest.raises(LaunchError, match="already running"):
            environment.publish(tmp_path, {})
    finally:
        sleeper.send_signal(signal.SIGKILL)
        sleeper.wait()
    environment.publish(tmp_path, {})  # that launcher is gone


def test_damaged_model_file_is_not_taken_for_the_model(tmp_path: Path) -> None:
    model_file(tmp_path).write_bytes(b"GGUF, but not the one we know")
    assert not is_present(tmp_path)
