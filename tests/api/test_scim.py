"""SCIM 2: a directory sends users and groups, with the token of its organization."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.test import Client

from backend.accounts.access import Access, access_ended
from backend.accounts.models import APIKey, Membership, User
from backend.accounts.principal import Principal
from backend.accounts.services import api_key_create
from backend.accounts.sessions import SSO_ORGANIZATION, session_record
from backend.api import access_watch
from backend.api.access_watch import AccessWatch
from backend.audit.models import AuditEvent
from backend.enterprise.directory_tokens import directory_token_create
from backend.enterprise.identities import Claims, identity_sign_in
from backend.enterprise.models import DirectoryToken, DirectoryUser
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import oidc_of, owner_with_domain
from tests.factories import member, principal_of

pytestmark = pytest.mark.usefixtures("transactional_db")

CORE = "urn:ietf:params:scim:schemas:core:2.0"
MESSAGES = "urn:ietf:params:scim:api:messages:2.0"


class Directory(AsgiClient):
    """An identity provider's directory of one organization."""

    owner: Principal
    domain: str

    @classmethod
    async def new(cls) -> "Directory":
        owner, domain = await in_database(owner_with_domain)
        token = await in_database(directory_token_create, principal=owner)
        directory = cls(headers={"Authorization": f"Bearer {token}"})
        directory.owner, directory.domain = owner, domain
        return directory

    async def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Content-Type": "application/scim+json"}
        return await self.request(method, f"/api/scim/v2/{path}", json=body, headers=headers)

    async def add(self, user: str, /, **fields: Any) -> dict[str, Any]:
        body = {"schemas": [f"{CORE}:User"], "userName": f"{user}@{self.domain}", **fields}
        answer = await self.ask("POST", "Users", body)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def change(self, path: str, *operations: dict[str, Any]) -> httpx.Response:
        body = {"schemas": [f"{MESSAGES}:PatchOp"], "Operations": list(operations)}
        return await self.ask("PATCH", path, body)


@pytest.fixture
async def directory() -> AsyncIterator[Directory]:
    async with await Directory.new() as one:
        yield one


def places(directory: Directory) -> list[str]:
    rows = Membership.objects.filter(organization_id=directory.owner.organization_id)
    return sorted(rows.exclude(role="owner").values_list("user__email", flat=True))


async def test_user_is_made_a_member_and_read_back(directory: Directory) -> None:
    sent = {
        "externalId": "00u1",
        "name": {"givenName": "Ada", "familyName": "King"},
        "title": "Countess",
        "emails": [{"value": f"Ada.King@{directory.domain}", "primary": True}],
        "password": "must-not-be-kept-1",
    }
    made = await directory.add("ada", **sent)
    found = (await directory.ask("GET", f"Users/{made['id']}")).json()
    assert found == made
    assert (found["title"], found["externalId"], found["active"]) == ("Countess", "00u1", True)
    assert found["meta"]["location"].endswith(f"/api/scim/v2/Users/{made['id']}")
    assert await in_database(places, directory) == [f"ada.king@{directory.domain}"]
    user = await in_database(User.objects.get, email=f"ada.king@{directory.domain}")
    assert user.name == "Ada King"
    assert not user.has_usable_password()
    row = await in_database(DirectoryUser.objects.get)
    assert "must-not-be-kept-1" not in str(row.resource)
    log = await in_database(AuditEvent.objects.get, action="user.added")
    assert (log.actor_kind, log.details) == ("scim", {"role": "member"})


async def test_users_are_filtered_sorted_and_paged(directory: Directory) -> None:
    for name in ("b", "a", "c"):
        await directory.add(name, externalId=f"ext-{name}", active=name != "c")

    async def names(query: str) -> list[str]:
        answer = await directory.ask("GET", f"Users?{query}")
        assert answer.status_code == 200, answer.text
        return [one["userName"][0] for one in answer.json()["Resources"]]

    assert await names("") == ["b", "a", "c"]
    assert await names(f'filter=userName eq "A@{directory.domain.upper()}"') == ["a"]
    assert await names('filter=externalId eq "ext-b"') == ["b"]
    assert await names("filter=active eq false") == ["c"]
    assert await names('filter=userName sw "a" or externalId eq "ext-c"') == ["a", "c"]
    assert await names("sortBy=userName&sortOrder=descending") == ["c", "b", "a"]
    page = (await directory.ask("GET", "Users?startIndex=2&count=1")).json()
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (3, 2, 1)
    assert page["Resources"][0]["userName"].startswith("a@")


async def test_user_is_replaced_patched_and_deleted(directory: Directory) -> None:
    made = await directory.add("ada")
    path = f"Users/{made['id']}"
    body = {**made, "title": "Dr", "externalId": "7"}
    assert (await directory.ask("PUT", path, body)).json()["title"] == "Dr"
    patched = await directory.change(
        path,
        {"op": "Replace", "value": {"title": "Prof"}},
        {"op": "add", "path": "nickName", "value": "A"},
        {"op": "remove", "path": "externalId"},
    )
    found = patched.json()
    assert (found["title"], found["nickName"], "externalId" in found) == ("Prof", "A", False)
    assert (await directory.ask("DELETE", path)).status_code == 204
    assert (await directory.ask("GET", path)).status_code == 404
    assert await in_database(places, directory) == []


async def test_deactivation_ends_keys_sessions_and_what_is_open(
    directory: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_watch, "CHECK_INTERVAL_S", 0.1)
    made = await directory.add("ada")

    def prepare() -> tuple[Principal, APIKey, Access]:
        place = Membership.objects.select_related("organization__plan").get(
            organization_id=directory.owner.organization_id, role="member"
        )
        principal = principal_of(place)
        key, _ = api_key_create(principal=principal, name="ci")
        return principal, key, Access(principal.user_id, principal.organization_id)

    _, key, access = await in_database(prepare)
    ended = asyncio.Event()
    with AccessWatch().watching(access, lambda _: ended.set()):
        answer = await directory.change(
            f"Users/{made['id']}", {"op": "replace", "path": "active", "value": False}
        )
        assert answer.json()["active"] is False
        await asyncio.wait_for(ended.wait(), 10)
    await in_database(key.refresh_from_db)
    assert key.revoked_at is not None
    assert await in_database(access_ended, {access}) == {access}
    assert await in_database(places, directory) == []

    answer = await directory.change(
        f"Users/{made['id']}", {"op": "replace", "path": "active", "value": True}
    )
    assert answer.json()["active"] is True
    assert await in_database(places, directory) == [made["userName"]]


async def rename(directory: Directory, path: str, user: str) -> httpx.Response:
    """Rename a user as Entra does."""
    address = f"{user}@{directory.domain}"
    return await directory.change(
        path,
        {"op": "Replace", "path": "userName", "value": address},
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": address},
        {"op": "Replace", "path": "displayName", "value": user.title()},
    )


async def add_with_address(directory: Directory, user: str) -> str:
    address = f"{user}@{directory.domain}"
    emails = [{"value": address, "type": "work", "primary": True}]
    return f"Users/{(await directory.add(user, emails=emails))['id']}"


async def test_renamed_person_keeps_account_and_can_be_deactivated(directory: Directory) -> None:
    path = await add_with_address(directory, "ada")
    account = await in_database(User.objects.get, email=f"ada@{directory.domain}")
    assert (await rename(directory, path, "countess")).status_code == 200
    await in_database(account.refresh_from_db)
    assert (account.email, account.name) == (f"countess@{directory.domain}", "Countess")

    def sign_in() -> User:
        connection = oidc_of(directory.owner, "https://idp.example.com")
        claims = Claims("employee-1", f"countess@{directory.domain}", True)
        return identity_sign_in(connection=connection, claims=claims)

    assert await in_database(sign_in) == account
    deactivated = await directory.change(path, {"op": "Replace", "path": "active", "value": False})
    assert deactivated.json()["active"] is False
    assert await in_database(places, directory) == []
    with pytest.raises(PermissionDenied, match="deactivated"):
        await in_database(sign_in)


async def test_rename_to_a_foreign_address_is_refused(directory: Directory) -> None:
    path = await add_with_address(directory, "ada")
    foreign = {"op": "Replace", "path": "emails", "value": [{"value": "ada@foreign.example"}]}
    assert (await directory.change(path, foreign)).status_code == 403
    assert await in_database(User.objects.filter(email=f"ada@{directory.domain}").exists)
    await directory.add("bob")
    assert (await rename(directory, path, "bob")).status_code == 409
    # The address stops no deactivation.
    gone = await directory.change(
        path, foreign, {"op": "Replace", "path": "active", "value": False}
    )
    assert gone.json()["active"] is False


async def test_deactivation_ends_provider_sessions_alone_where_others_have_them(
    directory: Directory,
) -> None:
    elsewhere = await in_database(member, email=f"ada@{directory.domain}")
    made = await directory.add("ada")
    user = await in_database(User.objects.get, pk=elsewhere.user_id)

    def session(organization: str | None) -> str:
        client = Client()
        client.force_login(user)
        store = client.session
        if organization is not None:
            store[SSO_ORGANIZATION] = organization
            store.save()
        key = str(store.session_key)
        session_record(user=user, session_key=key, address="127.0.0.1", user_agent="x")
        return key

    by_provider = await in_database(session, str(directory.owner.organization_id))
    by_password = await in_database(session, None)
    await directory.change(f"Users/{made['id']}", {"op": "replace", "value": {"active": False}})
    kept = await in_database(lambda: set(Session.objects.values_list("session_key", flat=True)))
    assert by_password in kept and by_provider not in kept


async def test_directory_removes_no_owner(directory: Directory) -> None:
    user = await in_database(User.objects.get, pk=directory.owner.user_id)

    def move() -> None:
        email = f"boss@{directory.domain}"
        User.objects.filter(pk=user.pk).update(email=email)
        EmailAddress.objects.filter(user=user).update(email=email)

    await in_database(move)
    made = await directory.add("boss")
    answer = await directory.change(
        f"Users/{made['id']}", {"op": "replace", "path": "active", "value": False}
    )
    assert answer.status_code == 409
    assert (await directory.ask("DELETE", f"Users/{made['id']}")).status_code == 409


async def test_groups_hold_users(directory: Directory) -> None:
    ada, bob = await directory.add("ada"), await directory.add("bob")
    body = {
        "schemas": [f"{CORE}:Group"],
        "displayName": "Engineers",
        "members": [{"value": ada["id"]}],
    }
    made = (await directory.ask("POST", "Groups", body)).json()
    path = f"Groups/{made['id']}"
    await directory.change(path, {"op": "add", "path": "members", "value": [{"value": bob["id"]}]})
    group = (await directory.ask("GET", path)).json()
    assert {one["value"] for one in group["members"]} == {ada["id"], bob["id"]}
    user = (await directory.ask("GET", f"Users/{bob['id']}")).json()
    assert [(one["value"], one["display"]) for one in user["groups"]] == [(made["id"], "Engineers")]
    removed = await directory.change(
        path, {"op": "remove", "path": f'members[value eq "{ada["id"]}"]'}
    )
    assert [one["value"] for one in removed.json()["members"]] == [bob["id"]]
    listed = await directory.ask("GET", 'Groups?filter=displayName eq "engineers"')
    assert listed.json()["totalResults"] == 1
    assert (await directory.ask("DELETE", path)).status_code == 204


async def test_directory_sees_nothing_of_another_organization(directory: Directory) -> None:
    async with await Directory.new() as other:
        ada = await other.add("ada")
        group = {
            "schemas": [f"{CORE}:Group"],
            "displayName": "G",
            "members": [{"value": ada["id"]}],
        }
        theirs = (await other.ask("POST", "Groups", group)).json()
        for path in (f"Users/{ada['id']}", f"Groups/{theirs['id']}"):
            for method, body in (("GET", None), ("PUT", ada), ("DELETE", None)):
                answer = await directory.ask(method, path, body)
                assert answer.status_code == 404, (method, path)
                absent = await directory.ask(method, f"{path[:-12]}000000000000", body)
                assert absent.status_code == 404
            patched = await directory.change(path, {"op": "remove", "path": "externalId"})
            assert patched.status_code == 404
        assert (await directory.ask("GET", "Users")).json()["totalResults"] == 0
        # Neither their person nor their domain.
        assert (await directory.ask("POST", "Groups", group)).status_code == 400
        stolen = {"schemas": [f"{CORE}:User"], "userName": f"boss@{other.domain}"}
        assert (await directory.ask("POST", "Users", stolen)).status_code == 403
        assert (await other.ask("GET", f"Users/{ada['id']}")).json()["active"] is True


async def test_account_elsewhere_keeps_its_other_organization(directory: Directory) -> None:
    elsewhere = await in_database(member, email=f"ada@{directory.domain}")
    made = await directory.add("ada")
    await directory.ask("DELETE", f"Users/{made['id']}")
    found = await in_database(Membership.objects.get, user_id=elsewhere.user_id)
    assert found.organization_id == elsewhere.organization_id
    assert (await in_database(User.objects.get, pk=elsewhere.user_id)).is_active


async def test_token_is_hashed_replaced_and_needed(directory: Directory) -> None:
    owner = directory.owner
    used = directory.headers["Authorization"].removeprefix("Bearer ")
    row = await in_database(DirectoryToken.objects.get)
    assert used not in str(row.__dict__)
    renewed = await in_database(directory_token_create, principal=owner)
    assert (await directory.ask("GET", "Users")).status_code == 401
    directory.headers["Authorization"] = f"Bearer {renewed}"
    assert (await directory.ask("GET", "Users")).status_code == 200
    for header in ("", "Bearer ", "Bearer scim-parley-x", "Basic eDp5"):
        directory.headers["Authorization"] = header
        answer = await directory.ask("GET", "Users")
        assert answer.status_code == 401
        assert answer.json()["schemas"] == [f"{MESSAGES}:Error"]


async def test_bad_requests_are_answered_as_scim_errors(directory: Directory) -> None:
    await directory.add("ada")
    user = {"schemas": [f"{CORE}:User"], "userName": f"ada@{directory.domain}"}
    for method, path, body, status in (
        ("POST", "Users", user, 409),
        ("POST", "Users", {"schemas": [f"{CORE}:User"]}, 400),
        ("POST", "Users", {"userName": 5}, 400),
        ("POST", "Users", [1], 400),
        ("GET", "Users?filter=userName xx 1", None, 400),
        ("GET", "Users?sortBy=nothing", None, 400),
        ("GET", "Users/not-an-id", None, 404),
        ("GET", "Nothing", None, 404),
        ("POST", "Schemas", {}, 405),
        ("PUT", "Users", {}, 405),
        ("POST", "Nothing", {}, 404),
    ):
        answer = await directory.ask(method, path, body)
        assert answer.status_code == status, (method, path, answer.text)
        assert answer.json()["schemas"] == [f"{MESSAGES}:Error"], answer.text


async def test_scim_describes_itself(directory: Directory) -> None:
    config = (await directory.ask("GET", "ServiceProviderConfig")).json()
    assert config["patch"]["supported"] is True
    kinds = (await directory.ask("GET", "ResourceTypes")).json()["Resources"]
    assert {one["id"] for one in kinds} == {"User", "Group"}
    schema = await directory.ask("GET", f"Schemas/{CORE}:User")
    assert schema.json()["name"] == "User"
