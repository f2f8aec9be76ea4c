"""The admin opens with a second factor only, and staff can always add their first."""

import re
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from backend.accounts.models import User
from backend.accounts.sessions import SSO_ORGANIZATION
from backend.api.throttling import FREE_CODES
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import oidc_of, oidc_provider, owner_with_domain, refusal, through_oidc
from tests.factories import UserFactory, member
from tests.support.second_factor import code_of, enrol, staff_sign_in

pytestmark = [pytest.mark.usefixtures("transactional_db")]

PASSWORD = "a long enough one 7"
_SECRET = re.compile(r'id="totp-secret">([A-Z2-7]+)<')


async def operator(**fields: Any) -> User:
    def make() -> User:
        rights = {"is_staff": True, "is_superuser": True}
        return UserFactory.create(password=PASSWORD, **{**rights, **fields})

    return await in_database(make)


async def give(client: AsgiClient, code: str, **fields: str) -> Any:
    return await client.post(
        "/admin/second-factor/",
        data={"csrfmiddlewaretoken": client.cookies["csrftoken"], "code": code, **fields},
    )


async def test_first_operator_adds_an_app_and_then_the_admin_opens() -> None:
    user = await operator()
    async with AsgiClient() as client:
        answer = await client.sign_in_as_staff(user.email, PASSWORD)
        assert answer.headers["Location"].startswith("/admin/second-factor/")
        assert (await client.get("/admin/")).status_code == 302
        page = await client.get("/admin/second-factor/")
        assert page.headers["Cache-Control"] == "no-store"
        found = _SECRET.search(page.text)
        assert found is not None, page.text
        wrong = await give(client, "000000")
        assert (wrong.status_code, "not right" in wrong.text) == (400, True)
        assert (await client.get("/admin/")).status_code == 302
        right = await give(client, code_of(found[1]))
        assert len(re.findall(r"<li>\d{8}</li>", right.text)) == 10
        assert (await client.get("/admin/")).status_code == 200


async def test_password_alone_opens_nothing_once_there_is_an_app() -> None:
    user = await operator()
    secret = await in_database(enrol, user)
    async with AsgiClient() as client:
        await client.sign_in_as_staff(user.email, PASSWORD)
        # Neither the admin nor the page, whose session this would be.
        assert (await client.get("/admin/")).status_code == 302
        assert (await client.get("/api/me")).status_code == 401
        page = await client.get("/admin/second-factor/")
        assert not _SECRET.search(page.text)
        assert (await give(client, "000000")).status_code == 200
        right = await give(client, code_of(secret), next="/admin/accounts/user/")
        assert right.headers["Location"] == "/admin/accounts/user/"
        assert (await client.get("/admin/")).status_code == 200


async def test_code_cannot_be_guessed_at_the_admin() -> None:
    user = await operator()
    secret = await in_database(enrol, user)
    async with AsgiClient() as client:
        await client.sign_in_as_staff(user.email, PASSWORD)
        statuses = [(await give(client, "000000")).status_code for _ in range(FREE_CODES + 1)]
        assert statuses == [200] * FREE_CODES + [429]
        assert (await give(client, code_of(secret))).status_code == 429


async def test_page_session_without_a_second_factor_does_not_open_the_admin() -> None:
    principal = await in_database(member, password=PASSWORD, is_staff=True, is_superuser=True)
    user = await in_database(User.objects.get, pk=principal.user_id)
    async with AsgiClient() as client:
        assert (await client.sign_in(user.email, PASSWORD)).status_code == 200
        assert (await client.get("/admin/")).status_code == 302
        entry = await client.get("/admin/login/?next=/admin/")
        assert 'name="password"' in entry.text
        enrolment = await client.get("/admin/second-factor/")
        assert enrolment.headers["Location"] == "/admin/login/"


async def test_session_from_before_the_factor_does_not_open_the_admin() -> None:
    principal = await in_database(member, password=PASSWORD, is_staff=True, is_superuser=True)
    user = await in_database(User.objects.get, pk=principal.user_id)
    async with AsgiClient() as client:
        await client.sign_in(user.email, PASSWORD)
        await in_database(enrol, user)
        assert (await client.get("/api/me")).status_code == 200
        assert (await client.get("/admin/")).status_code == 302


@pytest.fixture
def private_providers(settings: Any) -> None:
    settings.SSO_TO_PRIVATE = True


@pytest.mark.usefixtures("private_providers")
@pytest.mark.parametrize("has_factor", [False, True])
async def test_identity_provider_does_not_open_the_admin(has_factor: bool) -> None:
    owner, domain = await in_database(owner_with_domain)
    user = await operator(email=f"operator@{domain}")
    if has_factor:
        await in_database(enrol, user)
    claims = {"email": user.email, "email_verified": True}
    async with AsgiClient() as client:
        with oidc_provider(("subject-1", claims)) as issuer:
            await in_database(oidc_of, owner, issuer)
            assert refusal(await through_oidc(client, user.email, "subject-1")) == ""
        assert (await client.get("/admin/")).status_code == 302
        assert 'name="password"' in (await client.get("/admin/login/?next=/admin/")).text
        for answer in (
            await client.get("/admin/second-factor/"),
            await give(client, "000000"),
        ):
            assert answer.headers["Location"] == "/admin/login/"
        # The password, in the form, begins a session that is theirs.
        entered = await client.sign_in_as_staff(user.email, PASSWORD)
        assert entered.headers["Location"].startswith("/admin/second-factor/")
        page = await client.get("/admin/second-factor/")
        assert bool(_SECRET.search(page.text)) is not has_factor


async def test_factor_in_a_provider_session_does_not_open_the_admin() -> None:
    user = await operator()

    def provider_session() -> str:
        client = Client()
        staff_sign_in(client, user)
        session = client.session
        session[SSO_ORGANIZATION] = str(user.pk)
        session.save()
        return str(session.session_key)

    async with AsgiClient() as client:
        client.cookies.set("sessionid", await in_database(provider_session))
        answer = await client.get("/admin/")
        assert answer.headers["Location"].startswith("/admin/login/")


async def test_page_session_with_a_second_factor_opens_the_admin_until_it_is_removed() -> None:
    principal = await in_database(member, password=PASSWORD, is_staff=True, is_superuser=True)
    user = await in_database(User.objects.get, pk=principal.user_id)
    secret = await in_database(enrol, user)
    async with AsgiClient() as client:
        assert (await client.sign_in(user.email, PASSWORD)).status_code == 202
        given = await client.post("/api/auth/second-factor", json={"code": code_of(secret)})
        assert given.status_code == 200
        assert (await client.get("/admin/")).status_code == 200
        assert (await client.delete("/api/me/totp")).status_code == 204
        assert (await client.get("/admin/")).status_code == 302


async def test_person_who_is_not_staff_finds_no_second_factor_page() -> None:
    principal = await in_database(member, password=PASSWORD)
    user = await in_database(User.objects.get, pk=principal.user_id)
    async with AsgiClient() as client:
        await client.sign_in(user.email, PASSWORD)
        for path in ("/admin/second-factor/", "/admin/"):
            answer = await client.get(path)
            assert answer.status_code == 302 and "/admin/login/" in answer.headers["Location"]


async def test_next_leads_to_a_page_of_ours_only() -> None:
    user = await operator()
    secret = await in_database(enrol, user)
    async with AsgiClient() as client:
        await client.sign_in_as_staff(user.email, PASSWORD)
        answer = await give(client, code_of(secret), next="//evil.example/")
        assert answer.headers["Location"] == "/admin/"


async def test_operator_who_lost_everything_is_helped_at_the_console() -> None:
    user = await operator()
    await in_database(enrol, user)
    await in_database(call_command, "reset_second_factors", user.email.upper())
    async with AsgiClient() as client:
        await client.sign_in_as_staff(user.email, PASSWORD)
        page = await client.get("/admin/second-factor/")
        assert _SECRET.search(page.text)
