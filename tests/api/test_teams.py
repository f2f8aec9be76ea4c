"""Teams through the API, as browsers meet them: invited, joined, handed over, left."""

import re
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from backend.accounts.mail import mail_text
from backend.accounts.models import APIKey, Mail, Membership, Organization, User
from backend.api.models import StoredResponse
from backend.conversations.models import Conversation
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.factories import api_key_of, conversation_of, member

pytestmark = [pytest.mark.usefixtures("transactional_db")]

PASSWORD = "a long enough one 7"


@pytest.fixture
async def browser() -> Any:
    async with AsyncExitStack() as stack:
        number = 0

        async def new() -> AsgiClient:
            nonlocal number
            number += 1
            client = await stack.enter_async_context(AsgiClient(f"198.51.100.{number}"))
            await client.get("/")
            return client

        yield new


async def signed_in(browser: Any, **place: Any) -> tuple[AsgiClient, Any]:
    """A browser of a new member, and who they are."""
    principal = await in_database(lambda: member(password=PASSWORD, **place))
    user = await in_database(lambda: User.objects.get(pk=principal.user_id))
    client = await browser()
    answer = await client.post("/api/auth/login", json={"email": user.email, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    return client, principal


async def link(to: str, page: str) -> str:
    def read() -> str:
        for mail in Mail.objects.filter(to=to):
            found = re.search(rf"/{page}#(\S+)", mail_text(mail))
            if found:
                return found[1]
        raise AssertionError(f"no link to {page} for {to}")

    return await in_database(read)


async def test_invited_newcomer_signs_up_joins_leaves_and_has_an_organization(browser, settings):
    settings.SIGNUP_OPEN = False  # an invitation opens it
    owner, principal = await signed_in(browser)
    invited = {"email": "new@example.org", "role": "viewer"}
    made = await owner.post("/api/organization/invitations", json=invited)
    assert (made.status_code, made.json()["url"]) == (201, None)
    token = await link("new@example.org", "join")

    newcomer = await browser()
    offer = await newcomer.post("/api/auth/invitation", json={"token": token})
    assert (offer.json()["role"], offer.json()["for_address"]) == ("viewer", True)
    assert "new@example.org" not in offer.text
    body = {"email": "other@example.org", "password": PASSWORD, "invitation": token}
    assert (await newcomer.post("/api/auth/signup", json=body)).status_code == 403
    body["email"] = "new@example.org"
    assert (await newcomer.post("/api/auth/signup", json=body)).status_code == 202
    confirm = {"token": await link("new@example.org", "confirm-sign-up")}
    me = (await newcomer.post("/api/auth/signup/confirm", json=confirm)).json()
    assert (me["organization"]["id"], me["role"]) == (str(principal.organization_id), "viewer")
    assert len(me["organizations"]) == 1

    refused = await newcomer.post("/api/organization/invitations", json={"role": "viewer"})
    assert refused.status_code == 403
    own = f"/api/organization/members/{me['user']['id']}/remove"
    gone = await newcomer.post(own, json={"chats": "delete", "keys": "revoke"})
    assert gone.status_code == 204, gone.text
    me = (await newcomer.get("/api/me")).json()
    assert (me["role"], len(me["organizations"])) == ("owner", 1)
    assert me["organization"]["id"] != str(principal.organization_id)


async def test_person_with_an_account_joins_by_link_and_works_there(browser):
    owner, principal = await signed_in(browser)
    made = await owner.post("/api/organization/invitations", json={"role": "admin"})
    token = made.json()["url"].partition("#")[2]
    client, joining = await signed_in(browser)

    me = (await client.post("/api/me/invitations", json={"token": token})).json()

    assert (me["organization"]["id"], me["role"]) == (str(principal.organization_id), "admin")
    assert len(me["organizations"]) == 2
    back = await client.patch("/api/me", json={"organization_id": str(joining.organization_id)})
    assert back.json()["role"] == "owner"
    again = await client.post("/api/me/invitations", json={"token": token})
    assert (again.status_code, again.json()["error"]["code"]) == (404, "link_invalid")


async def test_removed_members_chats_and_keys_are_handed_over(browser):
    owner, principal = await signed_in(browser)

    def with_things() -> Any:
        organization = Organization.objects.get(pk=principal.organization_id)
        leaving = member(organization=organization, role="member")
        conversation_of(leaving, title="Plans")
        key, _ = api_key_of(leaving)
        StoredResponse.objects.create(
            id=uuid4(),
            organization=organization,
            user_id=leaving.user_id,
            items="[]",
            asked="{}",
        )
        return leaving, key.pk

    leaving, key_id = await in_database(with_things)
    remove = f"/api/organization/members/{leaving.user_id}/remove"
    half = await owner.post(remove, json={"chats": "hand_over", "keys": "revoke"})
    assert (half.status_code, half.json()["error"]["param"]) == (400, "chats_to")
    foreign = await in_database(member)
    body = {"chats": "hand_over", "chats_to": str(foreign.user_id), "keys": "service_account"}
    assert (await owner.post(remove, json=body)).status_code == 404
    assert await sync_to_async(Membership.objects.filter(user_id=leaving.user_id).count)() == 1
    body["chats_to"] = str(principal.user_id)
    assert (await owner.post(remove, json=body)).status_code == 204

    titles = [each["title"] for each in (await owner.get("/api/conversations")).json()["data"]]
    assert titles == ["Plans"]
    key = await in_database(lambda: APIKey.objects.select_related("created_by").get(pk=key_id))
    assert key.revoked_at is None and key.created_by_id != leaving.user_id
    members = (await owner.get("/api/organization/members")).json()["data"]
    assert [each["user_id"] for each in members] == [str(principal.user_id)]
    assert await in_database(Conversation.objects.filter(user_id=leaving.user_id).count) == 0
    response = await in_database(StoredResponse.objects.get)
    assert response.user_id == principal.user_id


async def test_organization_is_renamed_and_handed_on_by_its_owner(browser):
    owner, principal = await signed_in(browser)
    organization = await in_database(lambda: Organization.objects.get(pk=principal.organization_id))
    colleague, second = await signed_in(browser, organization=organization, role="member")

    renamed = await owner.patch("/api/organization", json={"name": "  Works  "})
    assert (renamed.json()["name"], renamed.json()["seats_taken"]) == ("Works", 2)
    assert (await colleague.patch("/api/organization", json={"name": "x"})).status_code == 403
    body = {"user_id": str(second.user_id)}
    assert (await owner.post("/api/organization/owner", json=body)).status_code == 204
    roles = (await owner.get("/api/organization/members?limit=1")).json()
    assert roles["data"][0]["role"] == "admin" and roles["next_cursor"]
    rest = await owner.get(f"/api/organization/members?cursor={roles['next_cursor']}")
    assert [each["role"] for each in rest.json()["data"]] == ["owner"]


async def test_project_limit_is_set_listed_and_removed(browser):
    owner, _ = await signed_in(browser)
    project = (await owner.post("/api/projects", json={"name": "Search"})).json()
    limits = f"/api/projects/{project['id']}/rate-limits"
    body = {"requests_per_minute": 5, "tokens_per_minute": 100}
    answer = await owner.put(f"{limits}/auto", json=body)
    assert (answer.status_code, answer.json()) == (200, {"model": "auto", **body})
    assert (await owner.get(limits)).json()["data"] == [{"model": "auto", **body}]
    assert (await owner.delete(f"{limits}/auto")).status_code == 204
    assert (await owner.get(limits)).json()["data"] == []
