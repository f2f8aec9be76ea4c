"""Codes after the right password: guessed with a growing wait, asked for again before a change."""

import pytest
from allauth.mfa.models import Authenticator as Row

from backend.accounts.models import User
from backend.api import throttling
from backend.api.throttling import FIRST_WAIT_S, FREE_CODES, MAX_WAIT_S
from backend.platform.database import in_database
from backend.platform.redis import async_client
from tests.api.accounts import OTHER, PASSWORD, NewBrowser, add_totp, code, mails, new_user
from tests.api.accounts import link as mailed_link
from tests.api.accounts import signed_in as sign_in
from tests.api.asgi_client import AsgiClient
from tests.support.authenticator import Authenticator
from tests.support.second_factor import code_of

pytestmark = pytest.mark.usefixtures("transactional_db")

WRONG = {"code": "000000"}
# What takes a factor away or makes another way in.
FACTOR_CHANGES = [
    ("DELETE", "/api/me/totp"),
    ("POST", "/api/me/recovery-codes"),
    ("POST", "/api/me/passkeys/options"),
    ("DELETE", "/api/me/passkeys/1"),
    ("POST", "/api/me/email"),
    ("POST", "/api/me/password"),
]
BODIES = {"/api/me/email": {"email": "new@example.org"}, "/api/me/password": {"password": OTHER}}


async def at_second_step(browser: NewBrowser, user: User) -> AsgiClient:
    client = await browser()
    assert (await client.sign_in(user.email, PASSWORD)).status_code == 202
    return client


async def wait_is_over(user: User) -> None:
    _, wait = throttling._second_step_keys(user)
    await async_client().delete(wait)


async def guess(client: AsgiClient, shown: str = "000000") -> tuple[int, str, int]:
    answer = await client.post("/api/auth/second-factor", json={"code": shown})
    wait = int(answer.headers.get("Retry-After", "0"))
    return answer.status_code, code(answer) if answer.status_code != 200 else "", wait


async def test_wait_grows_with_each_wrong_code(browser: NewBrowser) -> None:
    user = await new_user()
    secret, _ = await add_totp(await sign_in(browser, user))
    client = await at_second_step(browser, user)
    for _ in range(FREE_CODES):
        assert await guess(client) == (401, "wrong_code", 0)
    waits = []
    for _ in range(10):
        status, reason, wait = await guess(await at_second_step(browser, user))
        assert (status, reason) == (429, "too_many_attempts")
        waits.append(wait)
        await wait_is_over(user)
        assert await guess(client) == (401, "wrong_code", 0)
    assert waits == [min(FIRST_WAIT_S * 2**n, MAX_WAIT_S) for n in range(10)]

    await wait_is_over(user)
    assert (await guess(client, code_of(secret, periods=1)))[0] == 200
    client = await at_second_step(browser, user)
    assert [await guess(client) for _ in range(2)] == [(401, "wrong_code", 0)] * 2


async def test_right_code_waits_too(browser: NewBrowser) -> None:
    user = await new_user()
    secret, _ = await add_totp(await sign_in(browser, user))
    client = await at_second_step(browser, user)
    for _ in range(FREE_CODES):
        await guess(client)
    assert (await guess(client, code_of(secret, periods=1)))[0] == 429


async def test_third_wrong_code_is_mailed(browser: NewBrowser) -> None:
    user = await new_user()
    await add_totp(await sign_in(browser, user))
    client = await at_second_step(browser, user)
    before = len(await mails(user.email))
    for _ in range(2):
        await guess(client)
    assert len(await mails(user.email)) == before
    await guess(client)
    assert "Wrong codes were given" in (await mails(user.email))[0]
    assert "/forgot-password" in (await mails(user.email))[0]


async def test_another_password_unlocks_codes(
    browser: NewBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttling, "MAX_WRONG_CODES", 4)
    user = await new_user()
    secret, _ = await add_totp(await sign_in(browser, user))
    client = await at_second_step(browser, user)
    for _ in range(4):
        await guess(client)
        await wait_is_over(user)
    for shown in ("000000", code_of(secret, periods=1)):
        assert await guess(client, shown) == (403, "codes_locked", 0)

    await client.post("/api/auth/password-reset", json={"email": user.email})
    body = {"token": await mailed_link(user.email, "reset-password"), "password": OTHER}
    await client.post("/api/auth/password-reset/confirm", json=body)
    await client.sign_in(user.email, OTHER)
    assert (await guess(client, code_of(secret, periods=1)))[0] == 200


async def refused(client: AsgiClient) -> None:
    for method, path in FACTOR_CHANGES:
        answer = await client.request(method, path, json=BODIES.get(path))
        assert (answer.status_code, code(answer)) == (403, "reauthentication_required"), path


async def test_password_alone_changes_no_account_with_factor(
    browser: NewBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thief has the session and the password, and not the phone."""
    user = await new_user()
    client = await sign_in(browser, user)
    _, codes = await add_totp(client)
    monkeypatch.setattr("backend.api.sign_in.RECENT_S", 0)
    await refused(client)
    monkeypatch.setattr("backend.api.sign_in.RECENT_S", 600)
    prove = "/api/me/reauthenticate"
    for proof in ({"password": PASSWORD}, {"password": PASSWORD, **WRONG}):
        answer = await client.post(prove, json=proof)
        assert (answer.status_code, code(answer)) == (400, "wrong_code")
    right = await client.post(prove, json={"password": PASSWORD, "code": codes[0]})
    assert right.status_code == 204
    assert (await client.delete("/api/me/totp")).status_code == 204


async def test_session_without_factor_changes_nothing(browser: NewBrowser) -> None:
    """It began before the account had one, and its sign-in is recent."""
    user = await new_user()
    stolen, own = await sign_in(browser, user), await sign_in(browser, user)
    secret, _ = await add_totp(own)
    await refused(stolen)
    assert not (await stolen.get("/api/me/security")).json()["recent_sign_in"]
    proof = {"password": PASSWORD, "code": code_of(secret, periods=1)}
    assert (await stolen.post("/api/me/reauthenticate", json=proof)).status_code == 204
    assert (await stolen.get("/api/me/security")).json()["recent_sign_in"]


async def test_passkey_proves_who_changes_account(browser: NewBrowser) -> None:
    user = await new_user()
    async with AsgiClient() as own, AsgiClient() as other:
        for client in (own, other):
            assert (await client.sign_in(user.email, PASSWORD)).status_code == 200
        passkey, unknown = Authenticator("http://localhost"), Authenticator("http://localhost")
        options = (await own.post("/api/me/passkeys/options")).json()["options"]
        made = await own.post("/api/me/passkeys", json={"credential": passkey.create(options)})
        assert made.status_code == 201
        await refused(other)
        for shown, status in ((unknown, 400), (passkey, 204)):
            asked = await other.post("/api/me/reauthenticate/passkey/options")
            answer = await other.post(
                "/api/me/reauthenticate/passkey",
                json={"credential": shown.get(asked.json()["options"])},
            )
            assert answer.status_code == status, answer.text
        row = await in_database(Row.objects.filter(user=user, type="webauthn").get)
        assert (await other.delete(f"/api/me/passkeys/{row.pk}")).status_code == 204
