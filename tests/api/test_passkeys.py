"""Passkeys through the API: made, used, and everything that must not pass for one."""

from typing import Any

import httpx
import pytest
from allauth.mfa.models import Authenticator as Row

from backend.accounts.models import User
from backend.audit.models import AuditEvent
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.factories import member
from tests.support.authenticator import Authenticator

pytestmark = [pytest.mark.usefixtures("transactional_db")]

PASSWORD = "a long enough one 7"
ORIGIN = "http://localhost"


async def new_user() -> User:
    principal = await in_database(member, password=PASSWORD)
    return await in_database(User.objects.get, pk=principal.user_id)


async def add(client: AsgiClient, authenticator: Authenticator) -> httpx.Response:
    options = (await client.post("/api/me/passkeys/options")).json()["options"]
    credential = authenticator.create(options)
    return await client.post("/api/me/passkeys", json={"name": "Key", "credential": credential})


async def use(client: AsgiClient, authenticator: Authenticator) -> httpx.Response:
    options = (await client.post("/api/auth/passkey/options")).json()["options"]
    return await client.post("/api/auth/passkey", json={"credential": authenticator.get(options)})


async def with_passkey(user: User, **options: Any) -> Authenticator:
    authenticator = Authenticator(ORIGIN, **options)
    async with AsgiClient() as client:
        assert (await client.sign_in(user.email, PASSWORD)).status_code == 200
        answer = await add(client, authenticator)
        assert answer.status_code == 201, answer.text
        assert len(answer.json()["recovery_codes"]) == 10
        [listed] = (await client.get("/api/me/security")).json()["passkeys"]
        assert listed["name"] == "Key"
    return authenticator


async def test_passkey_signs_in_and_is_both_factors() -> None:
    user = await new_user()
    passkey = await with_passkey(user)
    async with AsgiClient() as client:
        await client.get("/")
        answer = await use(client, passkey)
        assert answer.json()["user"]["email"] == user.email
        assert (await client.get("/api/me")).status_code == 200
    async with AsgiClient() as client:
        asked = await client.sign_in(user.email, PASSWORD)
        assert asked.json() == {"second_factor": ["webauthn", "recovery_codes"]}
        assert (await use(client, passkey)).status_code == 200


async def test_answer_to_a_challenge_works_once_and_in_its_session_only() -> None:
    passkey = await with_passkey(await new_user())
    async with AsgiClient() as client, AsgiClient() as thief:
        await client.get("/")
        await thief.get("/")
        options = (await client.post("/api/auth/passkey/options")).json()["options"]
        credential = passkey.get(options)
        await thief.post("/api/auth/passkey/options")
        stolen = await thief.post("/api/auth/passkey", json={"credential": credential})
        assert stolen.status_code == 401
        first = await client.post("/api/auth/passkey", json={"credential": credential})
        again = await client.post("/api/auth/passkey", json={"credential": credential})
        assert (first.status_code, again.status_code) == (200, 401)


@pytest.mark.parametrize("lie", ["origin", "unverified", "key", "owner"])
async def test_passkey_that_lies_opens_nothing(lie: str) -> None:
    user, other = await new_user(), await new_user()
    passkey = await with_passkey(user)
    if lie == "origin":
        passkey.origin = "https://evil.example"
    elif lie == "unverified":
        passkey.verified = False
    elif lie == "key":
        passkey.key = Authenticator(ORIGIN).key
    else:
        passkey.user_handle = (await with_passkey(other)).user_handle
    async with AsgiClient() as client:
        await client.get("/")
        assert (await use(client, passkey)).status_code == 401
        assert (await client.get("/api/me")).status_code == 401
    failed = await in_database(AuditEvent.objects.get, action="login.failed")
    assert failed.details == {"reason": "wrong_passkey"}
    assert failed.actor_id == (other.pk if lie == "owner" else user.pk)


PAGE, STAFF = "chat.example.com", "admin.example.com"


async def options_at(host: str, settings: Any, *, domain: str) -> httpx.Response:
    settings.ADMIN_HOST, settings.PUBLIC_URL = STAFF, f"https://{PAGE}"
    settings.PASSKEY_DOMAIN, settings.ALLOWED_HOSTS = domain, [PAGE, STAFF]
    async with AsgiClient(headers={"Host": host}) as client:
        await client.get("/admin/login/" if host == STAFF else "/")
        return await client.post("/api/auth/passkey/options")


async def test_one_passkey_serves_page_and_admin_under_a_domain_of_both(settings: Any) -> None:
    for host in (PAGE, STAFF):
        answer = await options_at(host, settings, domain="example.com")
        assert answer.json()["options"]["publicKey"]["rpId"] == "example.com"


async def test_passkey_of_the_page_is_refused_by_name_at_an_admin_of_another_domain(
    settings: Any,
) -> None:
    answer = await options_at(STAFF, settings, domain="")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "passkeys_elsewhere")
    assert PAGE in answer.json()["error"]["message"]
    shown = await options_at(PAGE, settings, domain="")
    assert shown.json()["options"]["publicKey"]["rpId"] == PAGE


async def test_passkey_used_on_another_host_of_its_domain_opens_nothing(settings: Any) -> None:
    user = await new_user()
    passkey = await with_passkey(user)
    settings.PASSKEY_DOMAIN = "localhost"
    passkey.origin = "https://evil.localhost"
    async with AsgiClient() as client:
        await client.get("/")
        assert (await use(client, passkey)).status_code == 401
        passkey.origin = ORIGIN
        assert (await use(client, passkey)).status_code == 200


async def test_passkey_of_another_user_is_no_second_factor() -> None:
    user, other = await new_user(), await new_user()
    await with_passkey(user)
    foreign = await with_passkey(other)
    async with AsgiClient() as client:
        await client.sign_in(user.email, PASSWORD)
        assert (await use(client, foreign)).status_code == 401


async def test_passkey_of_a_deactivated_person_opens_nothing() -> None:
    user = await new_user()
    passkey = await with_passkey(user)
    await in_database(User.objects.filter(pk=user.pk).update, is_active=False)
    async with AsgiClient() as client:
        await client.get("/")
        assert (await use(client, passkey)).status_code == 401


@pytest.mark.parametrize(
    "credential",
    [{}, {"id": 1}, {"response": None}, {"response": {"userHandle": "_w"}}, {"response": []}],
)
async def test_malformed_credentials_are_refused_without_a_5xx(credential: dict[str, Any]) -> None:
    user = await new_user()
    async with AsgiClient() as client:
        await client.sign_in(user.email, PASSWORD)
        await client.post("/api/me/passkeys/options")
        added = await client.post("/api/me/passkeys", json={"credential": credential})
        assert added.status_code == 400, added.text
        await client.post("/api/auth/passkey/options")
        used = await client.post("/api/auth/passkey", json={"credential": credential})
        assert used.status_code == 401, used.text


async def test_only_the_owner_removes_a_passkey() -> None:
    user, other = await new_user(), await new_user()
    passkey = await with_passkey(user)
    row = await in_database(Row.objects.get, user=user, type="webauthn")
    async with AsgiClient() as client:
        await client.sign_in(other.email, PASSWORD)
        assert (await client.delete(f"/api/me/passkeys/{row.pk}")).status_code == 404
    async with AsgiClient() as client:
        await client.get("/")
        assert (await use(client, passkey)).status_code == 200
        assert (await client.delete(f"/api/me/passkeys/{row.pk}")).status_code == 204
        assert (await client.post("/api/auth/logout")).status_code == 204
        assert (await use(client, passkey)).status_code == 401
    async with AsgiClient() as client:  # nor is there a second step any more
        assert (await client.sign_in(user.email, PASSWORD)).status_code == 200


async def test_page_by_ip_address_is_refused_with_the_name_to_use() -> None:
    user = await new_user()
    async with AsgiClient(headers={"Host": "127.0.0.1"}) as client:
        await client.sign_in(user.email, PASSWORD)
        answer = await client.post("/api/me/passkeys/options")
        assert answer.json()["error"]["code"] == "host_name_needed"
