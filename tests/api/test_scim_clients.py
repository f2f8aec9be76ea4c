"""What Microsoft Entra and Okta send, in the forms that their documents show.

Sources: "Develop and plan provisioning for a SCIM endpoint in Microsoft Entra ID" and "Known issues
and resolutions with SCIM 2.0 protocol compliance" (Microsoft Learn); "SCIM 2.0 protocol reference"
(Okta Developer).
"""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from backend.accounts.models import Membership
from backend.platform.database import in_database
from tests.api.test_scim import CORE, Directory, places

pytestmark = pytest.mark.usefixtures("transactional_db")

USER, GROUP = f"{CORE}:User", f"{CORE}:Group"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
ENTRA_GROUP = "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"


@pytest.fixture
async def directory() -> AsyncIterator[Directory]:
    async with await Directory.new() as one:
        yield one


async def entra_user(directory: Directory, name: str = "ada", **fields: Any) -> dict[str, Any]:
    address = f"{name}@{directory.domain}"
    body = {
        "schemas": [USER, ENTERPRISE],
        "externalId": f"0a21f0f2-{name}",
        "userName": address,
        "active": True,
        "emails": [{"primary": True, "type": "work", "value": address}],
        "meta": {"resourceType": "User"},
        "name": {"formatted": "Ada King", "familyName": "King", "givenName": "Ada"},
        "roles": [],
        **fields,
    }
    answer = await directory.ask("POST", "Users", body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def change(directory: Directory, path: str, *operations: dict[str, Any]) -> dict[str, Any]:
    answer = await directory.change(path, *operations)
    assert answer.status_code == 200, (operations, answer.text)
    changed: dict[str, Any] = answer.json()
    return changed


async def test_entra_tries_the_connection_with_a_user_who_is_not_there(
    directory: Directory,
) -> None:
    answer = await directory.ask("GET", f'Users?filter=userName eq "{uuid4()}"')
    assert (answer.status_code, answer.json()["totalResults"]) == (200, 0)


async def test_entra_creates_with_the_enterprise_extension(directory: Directory) -> None:
    extension: Any = {"department": "R&D", "employeeNumber": "77", "manager": {"value": "26118915"}}
    made = await entra_user(directory, "ada", **{ENTERPRISE: extension})
    found = (await directory.ask("GET", f"Users/{made['id']}")).json()
    assert found[ENTERPRISE]["department"] == "R&D"
    assert found[ENTERPRISE]["manager"]["value"] == "26118915"
    await entra_user(directory, "bob")  # the extension in `schemas` alone


async def test_entra_changes_what_its_mapping_names(directory: Directory) -> None:
    path = f"Users/{(await entra_user(directory))['id']}"
    changed = await change(
        directory,
        path,
        {"op": "Replace", "path": f"{ENTERPRISE}:department", "value": "Sales"},
        {"op": "Add", "path": f"{ENTERPRISE}:manager", "value": "26118915"},
        {"op": "Add", "path": 'emails[type eq "other"].value', "value": "ada@private.example"},
        {"op": "Add", "path": 'phoneNumbers[type eq "mobile"].value', "value": "+44 1"},
        {"op": "Replace", "path": 'addresses[type eq "work"].country', "value": "GB"},
        {"op": "Replace", "path": "displayName", "value": "Ada"},
        {"op": "Add", "path": "nickName", "value": "Countess"},
    )
    assert changed[ENTERPRISE]["department"] == "Sales"
    assert changed[ENTERPRISE]["manager"]["value"] == "26118915"
    assert {(one["type"], one["value"]) for one in changed["emails"]} == {
        ("work", f"ada@{directory.domain}"),
        ("other", "ada@private.example"),
    }
    assert [(one["type"], one["value"]) for one in changed["phoneNumbers"]] == [("mobile", "+44 1")]
    assert [(one["type"], one["country"]) for one in changed["addresses"]] == [("work", "GB")]
    assert (changed["displayName"], changed["nickName"]) == ("Ada", "Countess")
    again = await change(
        directory,
        path,
        {"op": "Replace", "path": 'phoneNumbers[type eq "mobile"].value', "value": "+44 2"},
        {"op": "Remove", "path": "nickName"},
        {"op": "Remove", "path": "title"},  # it was not there
    )
    assert [one["value"] for one in again["phoneNumbers"]] == ["+44 2"]
    assert "nickName" not in again


async def test_entra_changes_several_attributes_without_a_path(directory: Directory) -> None:
    path = f"Users/{(await entra_user(directory))['id']}"
    value = {
        "displayName": "Dot Ted",
        "name.givenName": "Dot",
        "name.familyName": "Ted",
        f"{ENTERPRISE}:department": "Sales",
    }
    changed = await change(directory, path, {"op": "Replace", "value": value})
    assert changed["name"]["givenName"] == "Dot"
    assert changed["name"]["familyName"] == "Ted"
    assert changed[ENTERPRISE]["department"] == "Sales"


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "Replace", "path": "active", "value": "False"},
        {"op": "Replace", "path": "active", "value": False},
        {"op": "replace", "value": {"active": False}},
        {"op": "Replace", "value": {"active": "False"}},
        {"op": "Remove", "path": "active"},
    ],
)
async def test_deactivation_comes_in_each_form(
    directory: Directory, operation: dict[str, Any]
) -> None:
    made = await entra_user(directory)
    changed = await change(directory, f"Users/{made['id']}", operation)
    is_removal = operation["op"] == "Remove"  # without the attribute the default holds
    assert changed["active"] is is_removal
    assert bool(await in_database(places, directory)) is is_removal


async def test_entra_manages_groups_and_their_members(directory: Directory) -> None:
    ada, bob = await entra_user(directory), await entra_user(directory, "bob")
    body = {
        "schemas": [GROUP, ENTRA_GROUP],
        "externalId": "8aa1a0c0",
        "displayName": "Engineers",
        "meta": {"resourceType": "Group"},
    }
    made = await directory.ask("POST", "Groups", body)
    assert made.status_code == 201, made.text
    path = f"Groups/{made.json()['id']}"
    both = [{"$ref": None, "value": ada["id"]}, {"$ref": None, "value": bob["id"]}]
    group = await change(directory, path, {"op": "Add", "path": "members", "value": both})
    assert {one["value"] for one in group["members"]} == {ada["id"], bob["id"]}
    assert {(one["type"], one["$ref"].rpartition("/")[2]) for one in group["members"]} == {
        ("User", ada["id"]),
        ("User", bob["id"]),
    }
    leaver = {"op": "Remove", "path": "members", "value": both[:1]}
    group = await change(directory, path, leaver)
    assert [one["value"] for one in group["members"]] == [bob["id"]]
    await change(directory, path, leaver)  # a second time: they are in it no longer
    renamed = {"op": "Replace", "path": "displayName", "value": "Builders"}
    assert (await change(directory, path, renamed))["displayName"] == "Builders"
    query = 'Groups?excludedAttributes=members&filter=displayName eq "builders"'
    (listed,) = (await directory.ask("GET", query)).json()["Resources"]
    assert "members" not in listed
    group = await change(directory, path, {"op": "Remove", "path": "members"})
    assert "members" not in group


async def test_attributes_are_chosen(directory: Directory) -> None:
    made = await entra_user(directory)
    path = f"Users/{made['id']}?attributes=userName,active"
    assert (await directory.ask("GET", path)).json().keys() == {
        "schemas",
        "id",
        "userName",
        "active",
    }
    path = f"Users/{made['id']}?excludedAttributes=emails,groups"
    assert "emails" not in (await directory.ask("GET", path)).json()


@pytest.mark.parametrize("address", ["ada@corp.local", "ada@example.test", "ada@host.internal"])
async def test_special_use_address_beside_the_primary_is_kept(
    directory: Directory, address: str
) -> None:
    emails = [
        {"primary": True, "type": "work", "value": f"ada@{directory.domain}"},
        {"type": "other", "value": address},
    ]
    made = await entra_user(directory, emails=emails)
    assert address in {one["value"] for one in made["emails"]}


async def test_okta_creates_replaces_and_deactivates(directory: Directory) -> None:
    address = f"ada@{directory.domain}"
    body = {
        "schemas": [USER],
        "userName": address,
        "name": {"givenName": "Ada", "familyName": "King"},
        "emails": [{"primary": True, "value": address, "type": "work"}],
        "displayName": "Ada King",
        "locale": "en-US",
        "externalId": "00ujl29u0le5T6Aj10h7",
        "groups": [],
        "password": "1mz050nq",
        "active": True,
    }
    made = (await directory.ask("POST", "Users", body)).json()
    path = f"Users/{made['id']}"
    put = {
        "schemas": [USER],
        "id": made["id"],
        "userName": address,
        "name": {"givenName": "Another", "middleName": "", "familyName": "King"},
        "emails": [{"primary": True, "value": address, "type": "work"}],
        "active": True,
        "groups": [],
        "meta": {"resourceType": "User"},
    }
    replaced = await directory.ask("PUT", path, put)
    assert replaced.status_code == 200, replaced.text
    assert replaced.json()["name"]["givenName"] == "Another"
    assert (await directory.ask("POST", "Users", body)).status_code == 409
    gone = await change(directory, path, {"op": "replace", "value": {"active": False}})
    assert gone["active"] is False
    rows = Membership.objects.filter(organization_id=directory.owner.organization_id)
    assert await in_database(rows.count) == 1


async def test_okta_pushes_groups(directory: Directory) -> None:
    ada = await entra_user(directory)
    body = {"schemas": [GROUP], "displayName": "Test SCIMv2", "members": []}
    made = (await directory.ask("POST", "Groups", body)).json()
    path = f"Groups/{made['id']}"
    member = [{"value": ada["id"], "display": ada["userName"]}]
    added = await change(directory, path, {"op": "add", "path": "members", "value": member})
    assert [one["value"] for one in added["members"]] == [ada["id"]]
    removal = {"op": "remove", "path": f'members[value eq "{ada["id"]}"]'}
    assert "members" not in await change(directory, path, removal)
    renamed = {"op": "replace", "value": {"id": made["id"], "displayName": "Test SCIMv2 two"}}
    assert (await change(directory, path, renamed))["displayName"] == "Test SCIMv2 two"
    replaced = {"op": "replace", "path": "members", "value": member}
    assert [one["value"] for one in (await change(directory, path, replaced))["members"]] == [
        ada["id"]
    ]
