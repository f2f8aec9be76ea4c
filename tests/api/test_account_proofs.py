"""What proves who is signed in: password, second factors, sessions, and asking for them again."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session

from backend.accounts.models import User
from backend.api.throttling import CODES_PER_USER, MAILS_FROM_CLIENT_TO_EMAIL
from backend.platform.database import in_database
from tests.api.accounts import (
    OTHER,
    PASSWORD,
    NewBrowser,
    add_totp,
    code,
    link,
    mails,
    new_user,
    sign_up,
    signed_in,
)
from tests.factories import api_key_of, member
from tests.support.second_factor import code_of

pytestmark = pytest.mark.usefixtures("transactional_db")


# --- Passwords -------------------------------------------------------------------------------


async def test_reset_sets_the_password_and_ends_every_session(browser: NewBrowser) -> None:
    user = await new_user()
    client = await signed_in(browser, user)
    other = await browser()
    await other.post("/api/auth/password-reset", json={"email": user.email.upper()})
    token = await link(user.email, "reset-password")
    body = {"token": token, "password": OTHER}
    weak = await other.post("/api/auth/password-reset/confirm", json={**body, "password": "1234"})
    assert (weak.status_code, weak.json()["error"]["param"]) == (400, "password")
    done = await other.post("/api/auth/password-reset/confirm", json=body)
    assert done.status_code == 204
    assert (await client.get("/api/me")).status_code == 401
    assert (await other.get("/api/me")).status_code == 401
    assert (await other.post("/api/auth/password-reset/confirm", json=body)).status_code == 404
    assert (await other.sign_in(user.email, PASSWORD)).status_code == 401
    assert (await other.sign_in(user.email, OTHER)).status_code == 200
    assert "was changed" in (await mails(user.email))[0]


async def test_reset_of_an_unknown_address_answers_alike(browser: NewBrowser) -> None:
    user = await new_user()
    client = await browser()
    answers = [
        await client.post("/api/auth/password-reset", json={"email": email})
        for email in (user.email, "unknown@example.org")
    ]
    assert answers[0].status_code == answers[1].status_code == 202
    assert answers[0].json() == answers[1].json()
    assert "There is none" in (await mails("unknown@example.org"))[0]


async def test_address_gets_no_more_than_five_mails_an_hour_without_an_error(
    browser: NewBrowser,
) -> None:
    user = await new_user()
    client, other = await browser(), await browser()
    allowed = MAILS_FROM_CLIENT_TO_EMAIL.attempts
    for _ in range(allowed):
        answer = await client.post("/api/auth/password-reset", json={"email": user.email})
        assert answer.status_code == 202
    assert (await sign_up(client, user.email)).status_code == 202
    assert len(await mails(user.email)) == allowed
    # The owner, who is elsewhere, still gets theirs.
    await other.post("/api/auth/password-reset", json={"email": user.email})
    assert len(await mails(user.email)) == allowed + 1


async def test_changed_password_ends_the_other_sessions_and_keeps_this_one(
    browser: NewBrowser,
) -> None:
    user = await new_user()
    here, there = await signed_in(browser, user), await signed_in(browser, user)
    assert (await here.post("/api/me/password", json={"password": OTHER})).status_code == 204
    assert (await here.get("/api/me")).status_code == 200
    assert (await there.get("/api/me")).status_code == 401
    [session] = (await here.get("/api/me/sessions")).json()["data"]
    assert session["current"]


# --- Re-authentication -----------------------------------------------------------------------

SENSITIVE: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "/api/me/password", {"password": OTHER}),
    ("POST", "/api/me/email", {"email": "new@example.org"}),
    ("POST", "/api/me/totp", None),
    ("PUT", "/api/me/totp", {"code": "000000"}),
    ("DELETE", "/api/me/totp", None),
    ("POST", "/api/me/recovery-codes", None),
    ("POST", "/api/me/passkeys/options", None),
    ("POST", "/api/me/passkeys", {"credential": {}}),
    ("DELETE", "/api/me/passkeys/1", None),
    ("DELETE", "/api/me", None),
]


async def test_account_change_asks_for_the_password_again_after_ten_minutes(
    browser: NewBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = await new_user()
    client = await signed_in(browser, user)
    monkeypatch.setattr("backend.api.sign_in.RECENT_S", 0)
    for method, path, body in SENSITIVE:
        answer = await client.request(method, path, json=body)
        assert (answer.status_code, code(answer)) == (403, "reauthentication_required"), path
    monkeypatch.setattr("backend.api.sign_in.RECENT_S", 600)
    wrong = await client.post("/api/me/reauthenticate", json={"password": "wrong"})
    assert (wrong.status_code, code(wrong)) == (400, "wrong_credentials")
    right = await client.post("/api/me/reauthenticate", json={"password": PASSWORD})
    assert right.status_code == 204
    assert (await client.post("/api/me/totp")).status_code == 200


async def test_no_api_key_and_no_request_without_the_csrf_token_changes_the_account(
    browser: NewBrowser,
) -> None:
    principal = await in_database(member, password=PASSWORD)
    user = await in_database(User.objects.get, pk=principal.user_id)
    _, secret = await in_database(api_key_of, principal)
    client = await signed_in(browser, user)
    program = await browser()
    for method, path, body in [*SENSITIVE, ("GET", "/api/me/security", None)]:
        keyed = await program.request(
            method, path, json=body, headers={"Authorization": f"Bearer {secret}"}
        )
        assert keyed.status_code == 401, path
        if method != "GET":
            forged = await client.request(
                method, path, json=body, headers={"X-CSRFToken": "x" * 32}
            )
            assert (forged.status_code, code(forged)) == (403, "csrf_failed"), path


async def test_passwords_and_codes_cannot_be_guessed_in_a_stolen_session(
    browser: NewBrowser,
) -> None:
    client = await signed_in(browser, await new_user())
    answers = [
        await client.post("/api/me/reauthenticate", json={"password": "wrong"})
        for _ in range(CODES_PER_USER.attempts + 1)
    ]
    assert [a.status_code for a in answers] == [400] * CODES_PER_USER.attempts + [429]


# --- Second factors --------------------------------------------------------------------------


async def test_sign_in_asks_for_the_code_once_an_app_is_added(browser: NewBrowser) -> None:
    user = await new_user()
    secret, codes = await add_totp(await signed_in(browser, user))
    assert len(set(codes)) == 10
    client = await browser()
    asked = await client.sign_in(user.email, PASSWORD)
    assert asked.status_code == 202
    assert asked.json() == {"second_factor": ["totp", "recovery_codes"]}
    assert (await client.get("/api/me")).status_code == 401
    wrong = await client.post("/api/auth/second-factor", json={"code": "000000"})
    assert (wrong.status_code, code(wrong)) == (401, "wrong_code")
    right = await client.post("/api/auth/second-factor", json={"code": code_of(secret, periods=1)})
    assert right.json()["user"]["email"] == user.email
    assert (await client.get("/api/me")).status_code == 200


async def test_code_works_once(browser: NewBrowser) -> None:
    user = await new_user()
    secret, _ = await add_totp(await signed_in(browser, user))
    shown = code_of(secret, periods=1)
    statuses = []
    for _ in range(2):
        client = await browser()
        await client.sign_in(user.email, PASSWORD)
        answer = await client.post("/api/auth/second-factor", json={"code": shown})
        statuses.append(answer.status_code)
    assert statuses == [200, 401]


async def test_code_of_another_time_is_refused(browser: NewBrowser) -> None:
    user = await new_user()
    secret, _ = await add_totp(await signed_in(browser, user))
    client = await browser()
    await client.sign_in(user.email, PASSWORD)
    statuses = []
    for periods in (-3, 3, 1):
        shown = code_of(secret, periods=periods)
        answer = await client.post("/api/auth/second-factor", json={"code": shown})
        statuses.append(answer.status_code)
    assert statuses == [401, 401, 200]


async def test_recovery_code_signs_in_once_and_is_reported_by_mail(browser: NewBrowser) -> None:
    user = await new_user()
    _, codes = await add_totp(await signed_in(browser, user))
    statuses = []
    for _ in range(2):
        client = await browser()
        await client.sign_in(user.email, PASSWORD)
        answer = await client.post("/api/auth/second-factor", json={"code": codes[3]})
        statuses.append(answer.status_code)
    assert statuses == [200, 401]
    assert "9 are left" in (await mails(user.email))[0]


async def test_second_factor_alone_opens_nothing(browser: NewBrowser) -> None:
    user = await new_user()
    secret, _ = await add_totp(await signed_in(browser, user))
    client = await browser()
    alone = await client.post("/api/auth/second-factor", json={"code": code_of(secret, periods=1)})
    assert (alone.status_code, code(alone)) == (401, "password_first")


async def test_pending_sign_in_ends_with_another_password(browser: NewBrowser) -> None:
    user = await new_user()
    secret, _ = await add_totp(await signed_in(browser, user))
    client = await browser()
    await client.sign_in(user.email, PASSWORD)
    user.set_password(OTHER)
    await in_database(user.save)
    answer = await client.post("/api/auth/second-factor", json={"code": code_of(secret, periods=1)})
    assert answer.status_code == 401


async def test_reset_password_does_not_open_an_account_with_a_second_factor(
    browser: NewBrowser,
) -> None:
    user = await new_user()
    await add_totp(await signed_in(browser, user))
    client = await browser()
    await client.post("/api/auth/password-reset", json={"email": user.email})
    body = {"token": await link(user.email, "reset-password"), "password": OTHER}
    await client.post("/api/auth/password-reset/confirm", json=body)
    assert (await client.sign_in(user.email, OTHER)).status_code == 202


async def test_seeds_are_not_readable_in_the_database(browser: NewBrowser) -> None:
    user = await new_user()
    secret, codes = await add_totp(await signed_in(browser, user))
    stored = str(
        await in_database(lambda: list(Authenticator.objects.values_list("data", flat=True)))
    )
    sessions = str(await in_database(lambda: [s.get_decoded() for s in Session.objects.all()]))
    for hidden in (secret, *codes):
        assert hidden not in stored + sessions


async def test_recovery_codes_go_with_the_last_factor(browser: NewBrowser) -> None:
    client = await signed_in(browser, await new_user())
    _, first = await add_totp(client)
    renewed = (await client.post("/api/me/recovery-codes")).json()["recovery_codes"]
    assert len(renewed) == 10 and not set(renewed) & set(first)
    assert (await client.delete("/api/me/totp")).status_code == 204
    security = (await client.get("/api/me/security")).json()
    assert (security["totp"], security["recovery_codes"]) == (False, 0)
    refused = await client.post("/api/me/recovery-codes")
    assert refused.status_code == 409
    assert (await client.delete("/api/me/totp")).status_code == 404


# --- Sessions --------------------------------------------------------------------------------


async def test_sessions_show_devices_and_signing_out_everywhere_ends_them(
    browser: NewBrowser,
) -> None:
    user = await new_user()
    here = await signed_in(browser, user)
    there = await browser()
    there.headers["User-Agent"] = "Another device"
    await there.sign_in(user.email, PASSWORD)
    listed = (await here.get("/api/me/sessions")).json()["data"]
    assert {s["user_agent"] for s in listed} >= {"Another device"}
    assert [s["current"] for s in listed].count(True) == 1
    assert len({s["ip"] for s in listed}) == 2
    assert (await here.delete("/api/me/sessions")).status_code == 204
    for client in (here, there):
        assert (await client.get("/api/me")).status_code == 401


async def test_one_device_is_signed_out_and_only_ones_own(browser: NewBrowser) -> None:
    user = await new_user()
    here, there = await signed_in(browser, user), await signed_in(browser, user)
    other_user = await signed_in(browser, await new_user())
    other = next(
        s["id"] for s in (await here.get("/api/me/sessions")).json()["data"] if not s["current"]
    )
    assert (await other_user.delete(f"/api/me/sessions/{other}")).status_code == 404
    assert (await there.get("/api/me")).status_code == 200
    assert (await here.delete(f"/api/me/sessions/{other}")).status_code == 204
    assert (await there.get("/api/me")).status_code == 401
    assert (await here.get("/api/me")).status_code == 200
