"""A stranger's body costs next to nothing, at every door; a known one's is bounded."""

import asyncio
import time
import tracemalloc
from typing import Any

import pytest

import backend.api.scim  # noqa: F401 - imported when a directory first asks, which costs 9 MB
from backend.api.application import api
from backend.api.asgi import FIRST_BYTES, BodiesInFlight
from backend.api.body_doors import ORDINARY_BYTES, door_for
from backend.api.handler import route_for
from backend.asgi import application
from backend.platform.database import in_database
from backend.platform.errors import Overloaded
from tests.api.body_places import Document, Node
from tests.factories import api_key_of

pytestmark = pytest.mark.usefixtures("transactional_db")

DOCUMENT = Document()
CHUNK = 64 << 10
HELD = 2 << 20
# No operation of the schema.
OTHER_DOORS = [
    ("POST", "/"),
    ("POST", "/docs"),
    ("POST", "/openapi.json"),
    ("POST", "/metrics"),
    ("POST", "/static/app/index.js"),
    ("POST", "/v1/nothing"),
    ("POST", "/admin/login/"),
    ("POST", "/admin/accounts/user/"),
    ("POST", "/api/scim/v2/Users"),
]


def path_of(path: str, operation: Node) -> str:
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            value = DOCUMENT.smallest(parameter["schema"])
            path = path.replace(f"{{{parameter['name']}}}", str(value))
    return path


OPERATIONS = [(m, path, path_of(path, operation)) for m, path, operation in DOCUMENT.operations()]
DOORS = [(method, path) for method, _, path in OPERATIONS] + OTHER_DOORS


class Sender:
    """Sends zeros until it is answered, and counts how much was taken."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.taken = 0

    async def receive(self) -> dict[str, Any]:
        if not self.left:
            await asyncio.Event().wait()
        size = min(CHUNK, self.left)
        self.left -= size
        self.taken += size
        return {"type": "http.request", "body": bytes(size), "more_body": self.left > 0}


async def status_of(
    method: str, path: str, sender: Sender, headers: dict[str, str], announced: bool
) -> int:
    status = 0

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    named = {"host": "localhost", "content-type": "application/json", **headers}
    if announced:
        named["content-length"] = str(sender.left)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "client": ("198.51.100.7", 40_000),
        "server": ("localhost", 80),
    }
    await application(scope, sender.receive, send)
    return status


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "chunked"])
async def test_body_without_a_key_is_refused_unread(announced: bool) -> None:
    worst = 0.0
    for method, path in DOORS:
        door = door_for(method, path)
        sender = Sender(door.limit)
        tracemalloc.start()
        begun = time.process_time()
        status = await status_of(method, path, sender, {}, announced)
        worst = max(worst, time.process_time() - begun)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert status, (method, path)
        assert held <= HELD, (method, path, held)
        if door.authenticate is not None:
            assert (status, sender.taken) == (401, 0 if announced else CHUNK), (method, path)
    print(f"{len(DOORS)} doors, at most {worst * 1000:.1f} ms of CPU, traced")


async def test_body_of_a_key_is_refused_unread_where_the_key_may_not_go() -> None:
    _, secret = await in_database(api_key_of, scopes=["audit"])
    headers = {"authorization": f"Bearer {secret}"}
    for method, path in DOORS:
        door = door_for(method, path)
        if door.authenticate is None or method == "GET":
            continue
        sender = Sender(door.limit)
        status = await status_of(method, path, sender, headers, announced=True)
        assert (status in {401, 403}, sender.taken) == (True, 0), (method, path, status)


async def test_body_longer_than_its_route_takes_is_refused_unread() -> None:
    for method, path in DOORS:
        sender = Sender(door_for(method, path).limit + 1)
        assert await status_of(method, path, sender, {}, announced=True) == 413, (method, path)
        assert sender.taken == 0


def test_every_operation_has_a_door() -> None:
    known = api.authentication()
    for method, template, path in OPERATIONS:
        assert (method, route_for(path).route) in known, (method, template)


def test_authenticated_operation_has_an_authenticated_door() -> None:
    """Wherever it is named: at the operation, its router, or where that is mounted."""
    asked = {
        (method, path)
        for method, path, operation in DOCUMENT.operations()
        if any("AnonymousWithCsrf" not in scheme for scheme in operation.get("security", ()))
    }
    assert len(asked) > 100
    open_doors = [
        (method, path)
        for method, path, example in OPERATIONS
        if (method, path) in asked and door_for(method, example).authenticate is None
    ]
    assert open_doors == []


def test_prompts_and_files_have_longer_bodies_than_the_rest() -> None:
    large = {
        template
        for method, template, path in OPERATIONS
        if door_for(method, path).limit > ORDINARY_BYTES
    }
    assert {path for path in large if path.startswith("/api")} == {
        "/api/attachments",
        "/api/audio/transcriptions",
        "/api/auth/sso/saml/{connection_id}/acs",
        "/api/chat/completions",
        "/api/conversations/import",
        "/api/conversations/{conversation_id}/messages",
        "/api/payments/stripe",
    }


def test_process_has_room_for_so_many_bodies(settings: Any) -> None:
    settings.MAX_BODIES_IN_FLIGHT_BYTES = 100
    in_flight = BodiesInFlight()
    in_flight.add(100, is_upload=False)
    in_flight.add(1_000, is_upload=True)
    with pytest.raises(Overloaded):
        in_flight.add(1, is_upload=False)
    in_flight.add(-101, is_upload=False)
    in_flight.add(100, is_upload=False)


async def test_room_is_given_back_when_a_body_is_answered(settings: Any) -> None:
    settings.MAX_BODIES_IN_FLIGHT_BYTES = 2 * FIRST_BYTES
    for _ in range(5):
        sender = Sender(FIRST_BYTES)
        status = await status_of("POST", "/api/auth/login", sender, {}, announced=True)
        assert (status, sender.taken) == (403, FIRST_BYTES)
