"""An organization's list of networks: pages and API, IPv4 and IPv6, and no lockout by accident."""

import ipaddress
from typing import Any

import pytest

from backend.accounts.models import User
from backend.accounts.principal import Principal
from backend.audit.models import AuditEvent
from backend.enterprise import gate
from backend.enterprise.directory_tokens import directory_token_create
from backend.enterprise.gate import Gate
from backend.enterprise.networks import Allowed, networks_set
from backend.platform.database import in_database
from backend.platform.errors import Conflict, InvalidRequest, PermissionDenied
from tests.api.asgi_client import AsgiClient
from tests.factories import api_key_of, member

pytestmark = pytest.mark.usefixtures("transactional_db")

PASSWORD = "a long enough one 7"
INSIDE, OUTSIDE = "192.0.2.7", "198.51.100.7"


def allow(owner: Principal, *cidrs: str, address: str = INSIDE, **fields: Any) -> None:
    networks_set(
        principal=owner, networks=[Allowed(cidr) for cidr in cidrs], address=address, **fields
    )


async def test_page_and_key_work_from_inside_only() -> None:
    owner = await in_database(member, password=PASSWORD)
    email = (await in_database(User.objects.get, pk=owner.user_id)).email
    _, secret = await in_database(api_key_of, owner)
    await in_database(allow, owner, "192.0.2.0/24", "2001:db8::/32")
    for address, status in ((INSIDE, 200), ("2001:db8::1", 200), (OUTSIDE, 403)):
        async with AsgiClient(address) as browser:
            assert (await browser.sign_in(email, PASSWORD)).status_code == 200
            shown = await browser.get("/api/conversations")
            assert shown.status_code == status, address
            if status == 403:
                assert shown.json()["error"]["code"] == "ip_not_allowed"
                # They see who they are, and can choose another organization or sign out.
                assert (await browser.get("/api/me")).status_code == 200
                assert (await browser.get("/api/me/sessions")).status_code == 403
                assert (await browser.post("/api/auth/logout")).status_code == 204
        key = {"Authorization": f"Bearer {secret}"}
        async with AsgiClient(address, headers=key) as program:
            assert (await program.get("/v1/models")).status_code == status, address
            assert (await program.get("/api/keys")).status_code == status, address


async def test_list_of_another_organization_keeps_no_user_out() -> None:
    owner, other = await in_database(member), await in_database(api_key_of)
    await in_database(allow, owner, "192.0.2.0/24")
    async with AsgiClient(OUTSIDE, headers={"Authorization": f"Bearer {other[1]}"}) as program:
        assert (await program.get("/api/keys")).status_code == 200


async def test_directory_calls_from_peoples_networks_and_its_own() -> None:
    owner = await in_database(member)
    token = await in_database(directory_token_create, principal=owner)
    networks = [Allowed("192.0.2.0/24"), Allowed(OUTSIDE, for_directory=True)]
    await in_database(networks_set, principal=owner, networks=networks, address=INSIDE)
    _, secret = await in_database(api_key_of, owner)
    for address, people, directory in (
        (INSIDE, 200, 200),
        (OUTSIDE, 403, 200),
        ("203.0.113.9", 403, 403),
    ):
        async with AsgiClient(address) as client:
            called = await client.get(
                "/api/scim/v2/Users", headers={"Authorization": f"Bearer {token}"}
            )
            assert called.status_code == directory, address
            used = await client.get("/api/keys", headers={"Authorization": f"Bearer {secret}"})
            assert used.status_code == people, address


async def test_owner_is_warned_before_they_lock_themselves_out() -> None:
    owner = await in_database(member, password=PASSWORD)
    email = (await in_database(User.objects.get, pk=owner.user_id)).email
    path = "/api/organization/ip-allow-list"
    async with AsgiClient(OUTSIDE) as browser:
        await browser.sign_in(email, PASSWORD)
        body = {"networks": [{"cidr": "192.0.2.0/24", "note": "office"}]}
        answer = await browser.put(path, json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "lockout")
        body["networks"].append({"cidr": OUTSIDE, "note": "home"})
        kept = (await browser.put(path, json=body)).json()
        assert kept["your_address"] == OUTSIDE
        assert [one["cidr"] for one in kept["networks"]] == ["192.0.2.0/24", f"{OUTSIDE}/32"]
        assert (await browser.put(path, json={"networks": []})).status_code == 200
        confirmed = {"networks": [{"cidr": "192.0.2.0/24"}], "confirm_lockout": True}
        assert (await browser.put(path, json=confirmed)).status_code == 200
        assert (await browser.get("/api/conversations")).status_code == 403


@pytest.mark.parametrize("cidr", ["192.0.2.1/24", "300.1.1.1", "office", "192.0.2.0/33", "::/129"])
def test_malformed_network_is_named(cidr: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        allow(member(), cidr)
    assert refused.value.param == "networks"


def test_only_owners_set_it_and_it_is_recorded() -> None:
    owner = member()
    allow(owner, "192.0.2.0/24")
    event = AuditEvent.objects.get(action="ip_allowlist.updated")
    assert event.details == {"networks": ["192.0.2.0/24"], "directory_networks": []}
    with pytest.raises(PermissionDenied):
        allow(member(role="admin"), "192.0.2.0/24")
    with pytest.raises(Conflict):
        allow(owner, "192.0.2.0/24", address=OUTSIDE)


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("192.0.2.255", True),
        ("192.0.3.0", False),
        ("::ffff:192.0.2.1", True),
        ("2001:db8::1", False),
        ("unknown", False),
    ],
)
def test_address_is_matched(address: str, is_allowed: bool) -> None:
    assert Gate(False, (ipaddress.ip_network("192.0.2.0/24"),)).allows(address) is is_allowed


def test_remembered_gates_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_MAX_REMEMBERED", 2)
    for _ in range(5):
        gate.gate_load(member().organization_id)
    assert len(gate._remembered) <= 4
