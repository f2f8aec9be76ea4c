"""An account from its sign-up to its deletion, through the API, as a browser meets it."""

import re
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.sessions.models import Session

from backend.accounts.mail import mail_text
from backend.accounts.models import Mail, Membership, Organization, PendingSignUp, User
from backend.api.throttling import CODES_PER_USER, MAILS_FROM_CLIENT_TO_EMAIL
from backend.conversations.models import Conversation
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.factories import api_key_of, conversation_of, member
from tests.support.second_factor import code_of

pytestmark = [pytest.mark.usefixtures("transactional_db")]

PASSWORD = "a long enough one 7"
OTHER = "another long one 8"
_LINK = re.compile(r"http://\S+?/([a-z-]+)#(\S+)")


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their time matters in one test only."""
    monkeypatch.setattr(Argon2PasswordHasher, "memory_cost", 64)
    monkeypatch.setattr(Argon2PasswordHasher, "time_cost", 1)


NewBrowser = Callable[..., Awaitable[AsgiClient]]


@pytest.fixture
async def browser() -> Any:
    """Opens browsers, each with cookies of its own and at an address of its own."""
    async with AsyncExitStack() as stack:
        number = 0

        async def new() -> AsgiClient:
            nonlocal number
            number += 1
            client = await stack.enter_async_context(AsgiClient(f"198.51.100.{number}"))
            await client.get("/")
            return client

        yield new


async def mails(to: str) -> list[str]:
    """Newest first."""

    def read() -> list[str]:
        return [mail_text(mail) for mail in Mail.objects.filter(to=to)]

    return await in_database(read)


async def link(to: str, page: str) -> str:
    """The token of the newest link to `page`."""
    for text in await mails(to):
        found = _LINK.search(text)
        if found is not None and found[1] == page:
            return found[2]
    raise AssertionError(f"no link to {page} was mailed to {to}")


async def sign_up(client: AsgiClient, email: str) -> httpx.Response:
    body = {"email": email, "password": PASSWORD, "name": "Ada"}
    return await client.post("/api/auth/signup", json=body)


async def new_user(**fields: Any) -> User:
    principal = await in_database(member, password=PASSWORD, **fields)
    return await in_database(User.objects.get, pk=principal.user_id)


async def signed_in(browser: NewBrowser, user: User) -> AsgiClient:
    client = await browser()
    answer = await client.sign_in(user.email, PASSWORD)
    assert answer.status_code == 200, answer.text
    return client


async def add_totp(client: AsgiClient) -> tuple[str, list[str]]:
    """The secret of a new authenticator app, and the recovery codes."""
    secret = (await client.post("/api/me/totp")).json()["secret"]
    answer = await client.put("/api/me/totp", json={"code": code_of(secret, periods=-1)})
    assert answer.status_code == 200, answer.text
    return secret, answer.json()["recovery_codes"]


def code(answer: httpx.Response) -> str:
    return str(answer.json()["error"]["code"])


# --- Sign-up ---------------------------------------------------------------------------------


async def test_account_exists_only_once_its_link_is_opened(browser: NewBrowser) -> None:
    client = await browser()
    answer = await sign_up(client, "Ada@Example.org")
    assert (answer.status_code, answer.json()["status"]) == (202, "mail_sent")
    assert not await in_database(User.objects.exists)
    assert (await client.sign_in("ada@example.org", PASSWORD)).status_code == 401

    token = await link("ada@example.org", "confirm-sign-up")
    me = await client.post("/api/auth/signup/confirm", json={"token": token})
    assert me.json()["user"]["email"] == "ada@example.org"
    assert (await client.get("/api/me")).status_code == 200
    again = await client.post("/api/auth/signup/confirm", json={"token": token})
    assert (again.status_code, code(again)) == (404, "link_invalid")


async def test_sign_up_answers_alike_for_known_and_unknown_addresses(browser: NewBrowser) -> None:
    known = await new_user()
    client = await browser()
    answers = [await sign_up(client, e) for e in (known.email, "unknown@example.org")]
    first, second = ((a.status_code, a.json(), sorted(a.cookies)) for a in answers)
    assert first == second
    assert "You have an account already" in (await mails(known.email))[0]
    assert not _LINK.search((await mails(known.email))[0])


async def test_known_address_takes_as_long_at_sign_up_and_reset_as_unknown_one(
    browser: NewBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a benchmark: mail that is sent while one waits, or a hash less, is a factor of ten."""
    monkeypatch.undo()  # the hashes as they are
    known = await new_user()

    async def seconds(client: AsgiClient, path: str, email: str) -> float:
        started = time.perf_counter()
        answer = await client.post(path, json={"email": email, "password": PASSWORD})
        if answer.status_code == 400:  # resets take no password
            answer = await client.post(path, json={"email": email})
        assert answer.status_code == 202, answer.text
        return time.perf_counter() - started

    for path in ("/api/auth/signup", "/api/auth/password-reset"):
        client = await browser()
        times: dict[str, list[float]] = {known.email: [], "unknown@example.org": []}
        for _ in range(4):
            for email, taken in times.items():
                taken.append(await seconds(client, path, email))
        first, second = (statistics.median(taken) for taken in times.values())
        assert first / 4 < second < first * 4, path


async def test_link_needs_the_password_in_a_browser_that_did_not_sign_up(
    browser: NewBrowser,
) -> None:
    """Signing another person up gives no account that they confirm by mistake."""
    await sign_up(await browser(), "victim@example.org")
    victim = await browser()
    token = await link("victim@example.org", "confirm-sign-up")
    opened = await victim.post("/api/auth/signup/confirm", json={"token": token})
    assert (opened.status_code, code(opened)) == (401, "password_required")
    guessed = await victim.post(
        "/api/auth/signup/confirm", json={"token": token, "password": OTHER}
    )
    assert guessed.status_code == 401
    assert not await in_database(User.objects.exists)
    phone = await victim.post(
        "/api/auth/signup/confirm", json={"token": token, "password": PASSWORD}
    )
    assert phone.status_code == 200


async def test_of_two_sign_ups_of_one_address_the_confirmed_one_counts(
    browser: NewBrowser,
) -> None:
    first, second = await browser(), await browser()
    await sign_up(first, "ada@example.org")
    squatter = await link("ada@example.org", "confirm-sign-up")
    await sign_up(second, "ada@example.org")
    token = await link("ada@example.org", "confirm-sign-up")
    assert (await second.post("/api/auth/signup/confirm", json={"token": token})).status_code == 200
    late = await first.post("/api/auth/signup/confirm", json={"token": squatter})
    assert late.status_code == 404
    assert not await in_database(PendingSignUp.objects.exists)


async def test_made_up_links_are_404(browser: NewBrowser) -> None:
    client = await browser()
    for path in ("/api/auth/signup/confirm", "/api/auth/address/confirm"):
        for token in ("x", "a:b:c", "é" * 20):
            answer = await client.post(path, json={"token": token})
            assert answer.status_code == 404, (path, token, answer.text)
    for token in ("x", f"{'0' * 32}.x-y", ".", "zz.zz"):
        answer = await client.post(
            "/api/auth/password-reset/confirm", json={"token": token, "password": OTHER}
        )
        assert answer.status_code == 404, token


# --- Addresses -------------------------------------------------------------------------------


async def test_unverified_account_is_asked_for_its_link_after_the_right_password(
    browser: NewBrowser,
) -> None:
    user = await new_user(verified=False)
    client = await browser()
    assert (await client.sign_in(user.email, "wrong")).status_code == 401
    assert await mails(user.email) == []
    refused = await client.sign_in(user.email, PASSWORD)
    assert (refused.status_code, code(refused)) == (403, "address_unverified")
    token = await link(user.email, "confirm-address")
    confirmed = await client.post("/api/auth/address/confirm", json={"token": token})
    assert confirmed.status_code == 204
    assert (await client.sign_in(user.email, PASSWORD)).status_code == 200


async def test_new_address_counts_once_confirmed_and_the_old_one_is_notified(
    browser: NewBrowser,
) -> None:
    user = await new_user()
    client = await signed_in(browser, user)
    asked = await client.post("/api/me/email", json={"email": "new@example.org"})
    assert asked.status_code == 202
    assert (await client.get("/api/me")).json()["user"]["email"] == user.email
    token = await link("new@example.org", "confirm-address")
    assert (
        await client.post("/api/auth/address/confirm", json={"token": token})
    ).status_code == 204
    assert (await client.get("/api/me")).json()["user"]["email"] == "new@example.org"
    assert "new@example.org" in (await mails(user.email))[0]
    again = await client.post("/api/auth/address/confirm", json={"token": token})
    assert again.status_code == 404
    assert (await (await browser()).sign_in("new@example.org", PASSWORD)).status_code == 200
    assert (await (await browser()).sign_in(user.email, PASSWORD)).status_code == 401


async def test_change_to_a_taken_address_notifies_its_owner_only(
    browser: NewBrowser,
) -> None:
    user, owner = await new_user(), await new_user()
    client = await signed_in(browser, user)
    taken = await client.post("/api/me/email", json={"email": owner.email.upper()})
    free = await client.post("/api/me/email", json={"email": "free@example.org"})
    assert (taken.status_code, taken.json()) == (free.status_code, free.json())
    assert "nothing has changed" in (await mails(owner.email))[0]


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
    right = await client.post("/api/auth/second-factor", json={"code": code_of(secret)})
    assert right.json()["user"]["email"] == user.email
    assert (await client.get("/api/me")).status_code == 200


async def test_code_works_once(browser: NewBrowser) -> None:
    user = await new_user()
    secret, _ = await add_totp(await signed_in(browser, user))
    shown = code_of(secret)
    statuses = []
    for _ in range(2):
        client = await browser()
        await client.sign_in(user.email, PASSWORD)
        answer = await client.post("/api/auth/second-factor", json={"code": shown})
        statuses.append(answer.status_code)
    assert statuses == [200, 401]


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


async def test_second_factor_alone_opens_nothing_and_guessing_ends_after_ten(
    browser: NewBrowser,
) -> None:
    user = await new_user()
    secret, _ = await add_totp(await signed_in(browser, user))
    client = await browser()
    alone = await client.post("/api/auth/second-factor", json={"code": code_of(secret)})
    assert (alone.status_code, code(alone)) == (401, "password_first")
    await client.sign_in(user.email, PASSWORD)
    statuses = []
    for _ in range(CODES_PER_USER.attempts + 1):
        answer = await client.post("/api/auth/second-factor", json={"code": "000000"})
        statuses.append(answer.status_code)
    assert statuses == [401] * CODES_PER_USER.attempts + [429]
    late = await client.post("/api/auth/second-factor", json={"code": code_of(secret)})
    assert late.status_code == 429


async def test_pending_sign_in_ends_with_another_password(browser: NewBrowser) -> None:
    user = await new_user()
    secret, _ = await add_totp(await signed_in(browser, user))
    client = await browser()
    await client.sign_in(user.email, PASSWORD)
    user.set_password(OTHER)
    await in_database(user.save)
    answer = await client.post("/api/auth/second-factor", json={"code": code_of(secret)})
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


# --- Deletion --------------------------------------------------------------------------------


async def test_deleted_account_keeps_nothing_personal(browser: NewBrowser) -> None:
    principal = await in_database(member, password=PASSWORD, name="Ada")
    user = await in_database(User.objects.get, pk=principal.user_id)
    conversation = await in_database(conversation_of, principal)
    _, secret = await in_database(api_key_of, principal)
    here, there = await signed_in(browser, user), await signed_in(browser, user)
    await add_totp(here)
    assert (await here.delete("/api/me")).status_code == 204
    for client in (here, there):
        assert (await client.get("/api/me")).status_code == 401
    keyed = await there.get("/v1/models", headers={"Authorization": f"Bearer {secret}"})
    assert keyed.status_code == 401
    assert (await there.sign_in(user.email, PASSWORD)).status_code == 401
    gone = await in_database(User.objects.get, pk=user.pk)
    assert (gone.name, gone.is_active, gone.has_usable_password()) == ("", False, False)
    assert user.email not in gone.email
    assert not await in_database(Authenticator.objects.filter(user=user).exists)
    assert not await in_database(Membership.objects.filter(user=user).exists)
    left = await in_database(Conversation.objects.get, pk=conversation.pk)
    assert left.deleted_at is not None
    # The address is free again.
    again = await browser()
    await sign_up(again, user.email)
    token = await link(user.email, "confirm-sign-up")
    new = await again.post("/api/auth/signup/confirm", json={"token": token})
    assert new.status_code == 200


async def test_only_owner_of_an_organization_with_members_cannot_leave_it_behind(
    browser: NewBrowser,
) -> None:
    principal = await in_database(member, password=PASSWORD)
    user = await in_database(User.objects.get, pk=principal.user_id)
    organization = await in_database(Organization.objects.get, pk=principal.organization_id)
    await in_database(member, organization=organization, role="member")
    client = await signed_in(browser, user)
    refused = await client.delete("/api/me")
    assert (refused.status_code, code(refused)) == (409, "last_owner")
    assert (await client.get("/api/me")).status_code == 200


# --- The local outbox ------------------------------------------------------------------------


@pytest.mark.usefixtures("static_files")
async def test_outbox_opens_with_the_token_only(browser: NewBrowser, settings: Any) -> None:
    client = await browser()
    await sign_up(client, "ada@example.org")
    right = await client.get("/outbox", params={"token": settings.OUTBOX_TOKEN})
    assert "/confirm-sign-up#" in right.text
    assert right.headers["Cache-Control"] == "no-store"
    for wrong in ("", "wrong", "é"):
        assert (await client.get("/outbox", params={"token": wrong})).status_code == 404
    settings.EMAIL_HOST = "mail.example.org"
    hidden = await client.get("/outbox", params={"token": settings.OUTBOX_TOKEN})
    assert hidden.status_code == 404
    settings.EMAIL_HOST, settings.OUTBOX_TOKEN = "", ""
    assert (await client.get("/outbox", params={"token": ""})).status_code == 404
