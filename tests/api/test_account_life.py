"""An account from its sign-up to its deletion, through the API, as a browser meets it."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.hashers import Argon2PasswordHasher

from backend.accounts.models import Membership, Organization, PendingSignUp, User
from backend.conversations.models import Conversation
from backend.platform.database import in_database
from backend.rights.jobs import jobs_run
from tests.api.accounts import (
    LINK,
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
from tests.factories import api_key_of, conversation_of, member

pytestmark = pytest.mark.usefixtures("transactional_db")


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


async def test_page_says_its_language_by_a_header_and_mails_are_in_it(browser: NewBrowser) -> None:
    client = await browser()
    body = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
    headers = {"accept-language": "pt"}
    await client.post("/api/auth/signup", json=body, headers=headers)
    assert "Abra este link" in (await mails("ada@example.org"))[0]
    token = await link("ada@example.org", "confirm-sign-up")
    me = await client.post("/api/auth/signup/confirm", json={"token": token})
    assert me.json()["user"]["language"] == "pt"

    await client.post(
        "/api/auth/password-reset", json={"email": "bob@example.org"}, headers=headers
    )
    assert "Essa conta não existe" in (await mails("bob@example.org"))[0]


async def test_sign_up_answers_alike_for_known_and_unknown_addresses(browser: NewBrowser) -> None:
    known = await new_user()
    client = await browser()
    answers = [await sign_up(client, e) for e in (known.email, "unknown@example.org")]
    first, second = ((a.status_code, a.json(), sorted(a.cookies)) for a in answers)
    assert first == second
    assert "You have an account already" in (await mails(known.email))[0]
    assert not LINK.search((await mails(known.email))[0])


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Passwords as they are hashed, to be kept or to be compared: all that takes long."""
    passwords: list[str] = []

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def hash_one(self: Argon2PasswordHasher, password: str, *rest: Any) -> Any:
            passwords.append(password)
            return original(self, password, *rest)

        return hash_one

    for name in ("encode", "verify"):
        original = getattr(Argon2PasswordHasher, name)
        monkeypatch.setattr(Argon2PasswordHasher, name, counted(original))
    return passwords


@pytest.mark.parametrize(
    ("path", "password", "hashes"),
    [("/api/auth/signup", {"password": PASSWORD}, 1), ("/api/auth/password-reset", {}, 0)],
    ids=["sign-up", "reset"],
)
async def test_known_address_costs_as_much_at_sign_up_and_reset_as_unknown_one(
    browser: NewBrowser, hashed: list[str], path: str, password: dict[str, str], hashes: int
) -> None:
    """As many hashes; and a mail to either, which is sent later."""
    known = await new_user()
    client = await browser()
    for email in (known.email, "unknown@example.org"):
        hashed.clear()
        answer = await client.post(path, json={"email": email, **password})
        assert answer.status_code == 202, answer.text
        assert len(hashed) == hashes, email
        assert len(await mails(email)) == 1


async def test_unknown_email_costs_as_much_hashing_as_a_known_one(
    browser: NewBrowser, hashed: list[str]
) -> None:
    known = await new_user()
    client = await browser()
    for email in (known.email, "unknown@example.org"):
        hashed.clear()
        body = {"email": email, "password": "wrong wrong"}
        assert (await client.post("/api/auth/login", json=body)).status_code == 401
        assert hashed == ["wrong wrong"], email


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
    assert await in_database(jobs_run) > 0
    assert not await in_database(Conversation.objects.filter(pk=conversation.pk).exists)
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
