"""The audit log: complete, append-only, without secrets, and for one's own organization only."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import DatabaseError, connection, transaction

from backend.accounts.members import member_join, member_remove, member_role_set
from backend.accounts.models import Organization, Role, User
from backend.accounts.principal import Principal
from backend.accounts.services import api_key_create
from backend.audit.actions import Action
from backend.audit.models import AuditEvent
from backend.audit.services import SYSTEM, record
from backend.conversations.audit import content_access_record
from backend.conversations.shares import sharing_set
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.factories import api_key_of, conversation_of, member

pytestmark = pytest.mark.usefixtures("transactional_db")

PASSWORD = "a long enough one 7"


def events(principal: Principal) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(organization_id=principal.organization_id))


def recorded(principal: Principal, count: int = 1) -> list[str]:
    """`count` events, oldest first: their ids, newest first."""
    for number in range(count):
        record(
            Action.PROJECT_UPDATED,
            organization_id=principal.organization_id,
            actor=principal,
            target=("project", number),
        )
    return [str(event.pk) for event in events(principal)]


CHANGES: list[Callable[[], Any]] = [
    lambda: AuditEvent.objects.update(action="login.failed"),
    lambda: AuditEvent.objects.all().delete(),
    lambda: AuditEvent.objects.get().save(),
    lambda: connection.cursor().execute("UPDATE audit_log_auditevent SET address = ''"),
    lambda: connection.cursor().execute("DELETE FROM audit_log_auditevent"),
    lambda: connection.cursor().execute("TRUNCATE audit_log_auditevent CASCADE"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_postgresql_refuses_to_change_or_delete_an_event(change: Callable[[], Any]) -> None:
    recorded(member())
    before = list(AuditEvent.objects.values())
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change()
    assert list(AuditEvent.objects.values()) == before


def test_event_is_undone_with_what_it_records() -> None:
    owner = member()
    with pytest.raises(RuntimeError), transaction.atomic():
        api_key_create(principal=owner, name="ci")
        raise RuntimeError("after the service")
    assert events(owner) == []


@pytest.mark.parametrize("name", ["secret", "new_password", "access_token", "client_secret"])
def test_detail_with_the_name_of_a_secret_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="secrets"):
        record(Action.SSO_CREATED, organization_id=None, actor=SYSTEM, details={name: "x"})


async def test_sign_ins_and_failures_stand_with_address_and_device() -> None:
    owner = await in_database(member, password=PASSWORD)
    email = (await in_database(User.objects.get, pk=owner.user_id)).email
    async with AsgiClient("198.51.100.9", headers={"User-Agent": "Firefox/1"}) as browser:
        assert (await browser.sign_in(email, "wrong")).status_code == 401
        assert (await browser.sign_in("nobody@example.org", "wrong")).status_code == 401
        assert (await browser.sign_in(email, PASSWORD)).status_code == 200
        shown = (await browser.get("/api/audit-log")).json()["data"]
    assert [event["action"] for event in shown] == ["login.succeeded", "login.failed"]
    for event in shown:
        assert event["actor"]["email"] == email
        assert (event["address"], event["user_agent"]) == ("198.51.100.9", "Firefox/1")
        assert event["request_id"].startswith("req_")
    assert shown[0]["details"] == {"method": "password"}
    unknown = await in_database(AuditEvent.objects.get, organization_id=None)
    assert unknown.action == "login.failed"
    assert unknown.actor_id is None


def test_members_keys_policies_and_staff_are_recorded_without_secrets() -> None:
    owner, newcomer = member(), member()
    user = User.objects.get(pk=newcomer.user_id)
    member_join(organization_id=owner.organization_id, user=user, role=Role.MEMBER, actor=owner)
    member_role_set(principal=owner, user_id=newcomer.user_id, role=Role.ADMIN)
    _, secret = api_key_create(principal=owner, name="ci", scopes=["usage"])
    sharing_set(principal=owner, is_allowed=False)
    reader = User.objects.get(pk=member().user_id)
    reader.user_permissions.add(Permission.objects.get(codename="view_content"))
    conversation = conversation_of(owner, title="Private title")
    content_access_record(actor=reader, conversation=conversation, reason="support ticket 7")
    member_remove(principal=owner, user_id=newcomer.user_id)

    log = events(owner)
    assert [event.action for event in reversed(log)] == [
        "user.added",
        "user.updated",
        "api_key.created",
        "policy.updated",
        "content.accessed",
        "user.deleted",
    ]
    written = json.dumps([[str(v) for v in row.values()] for row in AuditEvent.objects.values()])
    for kept_out in (secret, secret[12:], user.email, reader.email, "Private title"):
        assert kept_out not in written
    assert events(newcomer) == []


@asynccontextmanager
async def browser_of(principal: Principal) -> AsyncIterator[AsgiClient]:
    user = await in_database(User.objects.get, pk=principal.user_id)
    async with AsgiClient() as browser:
        answer = await browser.sign_in(user.email, PASSWORD)
        assert answer.status_code == 200, answer.text
        yield browser


async def test_log_is_paged_filtered_and_exported() -> None:
    owner = await in_database(member, password=PASSWORD)
    ids = await in_database(recorded, owner, 5)
    async with browser_of(owner) as browser:
        path = "/api/audit-log?action=project.updated&limit=2"
        found, after = [], ""
        while True:
            page = (await browser.get(f"{path}{after}")).json()
            found += [event["id"] for event in page["data"]]
            if page["next_cursor"] is None:
                break
            after = f"&after={page['next_cursor']}"
        assert found == ids
        one = (await browser.get("/api/audit-log?target_id=3")).json()["data"]
        assert [event["target_id"] for event in one] == ["3"]
        nothing = await browser.get("/api/audit-log?since=2100-01-01T00:00:00Z")
        assert nothing.json()["data"] == []
        # An offset that ISO 8601 allows and PostgreSQL does not.
        far = await browser.get("/api/audit-log?until=3968-08-05T12:50:15%2B16:10")
        assert len(far.json()["data"]) >= 5
        lines = (await browser.get("/api/audit-log/export?action=project.updated")).text
        assert [json.loads(line)["id"] for line in lines.splitlines()] == ids
        newest = (await browser.get("/api/audit-log?limit=1")).json()["data"][0]
        assert newest["action"] == "audit_log.exported"


async def test_log_names_the_field_that_is_wrong() -> None:
    owner = await in_database(member, password=PASSWORD)
    foreign = (await in_database(recorded, await in_database(member)))[0]
    async with browser_of(owner) as browser:
        for query, param in (
            ("action=no.such", "action"),
            (f"after={foreign}", "after"),
            ("since=2026-01-01T00:00:00", "since"),
            ("until=9999-12-31T23:59:59-12:00", "until"),
        ):
            answer = await browser.get(f"/api/audit-log?{query}")
            assert (answer.status_code, answer.json()["error"]["param"]) == (400, param), query


@pytest.mark.parametrize("role", [Role.MEMBER, Role.FINANCE])
async def test_only_owners_and_admins_read_it(role: Role) -> None:
    caller = await in_database(member, role=role, password=PASSWORD)
    async with browser_of(caller) as browser:
        for path in ("", "/export", "/actions"):
            assert (await browser.get(f"/api/audit-log{path}")).status_code == 403


async def test_no_event_of_another_organization_is_seen() -> None:
    owner, other = await in_database(member), await in_database(member, password=PASSWORD)
    theirs = set(await in_database(recorded, owner, 3))
    _, secret = await in_database(api_key_of, other)
    async with browser_of(other) as browser:
        listed = (await browser.get("/api/audit-log")).text
        exported = (await browser.get("/api/audit-log/export")).text
        key = {"Authorization": f"Bearer {secret}"}
        query = f"/v1/organization/audit_logs?actor_ids[]={owner.user_id}"
        openai = (await browser.get(query, headers=key)).json()
    assert not any(event_id in listed + exported for event_id in theirs)
    assert openai["data"] == []


async def test_openai_shape_pages_both_ways_and_filters() -> None:
    owner = await in_database(member, password=PASSWORD)
    ids = await in_database(recorded, owner, 4)
    email = (await in_database(User.objects.get, pk=owner.user_id)).email
    _, secret = await in_database(api_key_of, owner)
    _, restricted = await in_database(api_key_of, owner, scopes=["usage"])
    async with AsgiClient(headers={"Authorization": f"Bearer {secret}"}) as client:
        path = "/v1/organization/audit_logs"
        first = (await client.get(f"{path}?limit=2")).json()
        assert [event["id"] for event in first["data"]] == ids[:2]
        assert (first["object"], first["first_id"], first["has_more"]) == ("list", ids[0], True)
        event = first["data"][0]
        assert event["actor"]["session"]["user"] == {"id": str(owner.user_id), "email": email}
        assert event["project.updated"]["id"] == "3"
        rest = (await client.get(f"{path}?after={first['last_id']}")).json()
        assert [event["id"] for event in rest["data"]] == ids[2:]
        newer = (await client.get(f"{path}?before={ids[2]}&limit=1")).json()
        assert [event["id"] for event in newer["data"]] == [ids[1]]
        for query, count in (
            (f"actor_emails[]={email}", 4),
            ("actor_emails[]=nobody@example.org", 0),
            ("event_types[]=login.failed", 0),
            ("resource_ids[]=2", 1),
            (f"effective_at[gt]={event['effective_at'] + 1}", 0),
        ):
            assert len((await client.get(f"{path}?{query}")).json()["data"]) == count, query
        bad = await client.get(f"{path}?effective_at[gt]=soon")
        assert (bad.status_code, bad.json()["error"]["param"]) == (400, "effective_at[gt]")
        client.headers["Authorization"] = f"Bearer {restricted}"
        assert (await client.get(path)).status_code == 403


def test_events_outlive_their_organization() -> None:
    owner = member()
    recorded(owner)
    Organization.objects.filter(pk=owner.organization_id).delete()
    assert len(events(owner)) == 1
