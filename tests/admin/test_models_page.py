"""The admin's *Models*: superusers ask the launcher for models, from where the operator allows."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from backend.accounts.models import ModelAccess
from backend.generation.pools.machine import FOLDERS_VARIABLE, model_add, model_command
from backend.platform.errors import InvalidRequest
from backend.platform.machine_models import (
    STATUS_KEY,
    Command,
    MachineModel,
    commands_take,
)
from backend.platform.redis import sync_client
from billing.models import Price
from tests.factories import MODEL

pytestmark = pytest.mark.django_db

PAGE = "admin:generation_models"
SHA256 = "ab" * 32
REPOSITORY = "hf:owner/name/file.gguf"


@pytest.fixture(autouse=True)
def var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "VAR_DIR", tmp_path)
    return tmp_path


@pytest.fixture
def launcher() -> None:
    """One that serves a model of hostile words."""
    model = MachineModel("mine", "<script>alert(1)</script>", "hf:a/b", "idle", memory=10**9)
    sync_client().set(STATUS_KEY, msgspec.json.encode([model]), ex=15)


def taken(var: Path) -> list[Command]:
    return [command for command in commands_take(var) if isinstance(command, Command)]


def form(**fields: object) -> dict[str, object]:
    return {"action": "add", "source": REPOSITORY, "model_id": "new", **fields}


def test_superuser_adds_a_model_with_its_prices_and_plans(client, superuser, var: Path) -> None:
    given = form(name="New", sha256=SHA256, memory="1.5", output_price="0.002", plans=["premium"])
    assert client.post(reverse(PAGE), given).status_code == 302
    [command] = commands_take(var)
    source = f"{REPOSITORY}#sha256={SHA256}"
    wanted = Command("add", "new", source=source, name="New", memory=1_500_000_000)
    assert command == wanted
    prices = Price.objects.filter(model="new").values_list("kind", "tiers")
    assert {kind: Decimal(tiers[0]["price"]) for kind, tiers in prices if tiers} == {
        "input": 0,
        "cached_input": 0,
        "output": Decimal("0.002"),
    }
    rules = ModelAccess.objects.filter(model="new").values_list("plan_id", "is_allowed")
    assert set(rules) == {(None, False), ("premium", True)}
    assert LogEntry.objects.get(user_id=superuser.pk).object_repr == "Model new"


def test_page_shows_models_as_text_and_passes_on_what_is_asked(
    client, superuser, var: Path, launcher: None
) -> None:
    page = client.get(reverse(PAGE)).content.decode()
    assert "&lt;script&gt;alert(1)" in page and "<script>alert(1)" not in page
    for action in ("stop", "start", "default", "remove"):
        client.post(reverse(PAGE), {"action": action, "model_id": "mine"})
    assert [command.action for command in taken(var)] == [
        "stop",
        "start",
        "default",
        "remove",
    ]
    for refused in ("other", "../mine", MODEL):
        client.post(reverse(PAGE), {"action": "stop", "model_id": refused})
    assert commands_take(var) == []


def test_others_of_the_staff_change_nothing(client, support, var: Path, launcher: None) -> None:
    for given in (form(), {"action": "stop", "model_id": "mine"}):
        assert client.post(reverse(PAGE), given).status_code == 403
    assert commands_take(var) == []


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"source": "https://169.254.169.254/x.gguf"}, "source"),
        ({"source": "memory://x"}, "source"),
        ({"source": "/etc/passwd"}, "source"),
        ({"source": "hf:../../x"}, "source"),
        ({"source": "s3:bucket/../other/x"}, "source"),
        ({"source": "pypi:name/file.gguf"}, "source"),
        ({"source": "pypi:--index-url=x==1/file.gguf"}, "source"),
        ({"source": "hf:a/b#sha256=1"}, "source"),
        ({"source": "file:/no/such"}, "source"),
        ({"model_id": "Up/../../x"}, "id"),
        ({"model_id": MODEL}, "id"),
        ({"model_id": "auto"}, "id"),
        ({"sha256": "x" * 64}, "sha256"),
        ({"plans": ["nope"]}, "plans"),
    ],
)
def test_request_that_makes_no_sense_is_refused_by_name(
    var: Path, fields: dict[str, Any], param: str
) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        given: dict[str, Any] = {"source": REPOSITORY, "model_id": "new", **fields}
        model_add(is_operator=True, **given)
    assert refusal.value.param == param
    assert commands_take(var) == []
    assert not Price.objects.filter(model="new").exists()


def test_page_adds_files_of_allowed_folders_only(
    var: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside.gguf"
    allowed.mkdir()
    outside.write_bytes(b"GGUF")
    (allowed / "inside.gguf").write_bytes(b"GGUF")
    (allowed / "link.gguf").symlink_to(outside)
    monkeypatch.setenv(FOLDERS_VARIABLE, str(allowed))
    messages = set()
    for place in (outside, allowed / "link.gguf", allowed / ".." / "outside.gguf", "/no/such"):
        with pytest.raises(InvalidRequest) as refusal:
            model_add(source=f"file:{place}", model_id="new", is_operator=False)
        messages.add(refusal.value.message)
    assert len(messages) == 1, "nothing is told of what is there"
    model_add(source=f"file:{allowed}/inside.gguf", model_id="new", is_operator=False)
    model_add(source=f"file:{outside}", model_id="other", is_operator=True)
    assert [command.source for command in taken(var)] == [
        str(allowed / "inside.gguf"),
        str(outside),
    ]


def test_model_that_comes_with_the_product_is_not_stopped_here(var: Path) -> None:
    with pytest.raises(InvalidRequest, match="it comes with `make run`"):
        model_command("stop", MODEL)
