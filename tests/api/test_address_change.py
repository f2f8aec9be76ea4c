"""Only the owner of an account changes its address, whoever asked for it or opens the link."""

from base64 import urlsafe_b64decode

import pytest

from backend.accounts.models import PendingAddress, User
from backend.api.throttling import LINK_PASSWORDS
from backend.platform.database import in_database
from tests.api.accounts import (
    OTHER,
    PASSWORD,
    NewBrowser,
    code,
    link,
    mails,
    new_user,
    signed_in,
)
from tests.api.asgi_client import AsgiClient
from tests.factories import api_key_of, member

pytestmark = pytest.mark.usefixtures("transactional_db")

NEW = "new@example.org"


async def begin(client: AsgiClient, email: str = NEW) -> str:
    """Ask for `email`, and return the token of the link that was mailed there."""
    asked = await client.post("/api/me/email", json={"email": email})
    assert asked.status_code == 202, asked.text
    return await link(email, "confirm-address")


async def confirm(client: AsgiClient, token: str, password: str | None = None) -> tuple[int, str]:
    body = {"token": token} | ({"password": password} if password else {})
    answer = await client.post("/api/auth/address/confirm", json=body)
    return answer.status_code, code(answer) if answer.content else ""


async def address_of(user: User) -> str:
    return str((await in_database(User.objects.get, pk=user.pk)).email)


async def test_click_of_another_person_gives_asker_nothing(browser: NewBrowser) -> None:
    """An attacker asks for the victim's address; the victim opens the link."""
    attacker = await new_user()
    token = await begin(await signed_in(browser, attacker), "victim@example.org")
    assert attacker.email in (await mails("victim@example.org"))[0]
    victim = await browser()
    assert await confirm(victim, token) == (403, "address_password_required")
    assert await confirm(victim, token, OTHER) == (400, "wrong_credentials")
    assert await address_of(attacker) == attacker.email


async def test_another_password_voids_change(browser: NewBrowser) -> None:
    """A thief begins the change in a stolen session; the owner chooses another password."""
    user = await new_user()
    thief, owner = await signed_in(browser, user), await signed_in(browser, user)
    token = await begin(thief)
    await owner.post("/api/me/password", json={"password": OTHER})
    for password in (None, PASSWORD, OTHER):
        assert await confirm(thief, token, password) == (404, "link_invalid")
    assert await address_of(user) == user.email


async def test_ending_all_sessions_voids_change(browser: NewBrowser) -> None:
    user = await new_user()
    thief, owner = await signed_in(browser, user), await signed_in(browser, user)
    token = await begin(thief)
    assert (await owner.delete("/api/me/sessions")).status_code == 204
    assert await confirm(thief, token, PASSWORD) == (404, "link_invalid")
    assert not await in_database(PendingAddress.objects.exists)


async def test_password_set_by_operator_voids_change(browser: NewBrowser) -> None:
    user = await new_user()
    client = await signed_in(browser, user)
    token = await begin(client)
    user.set_password(OTHER)
    await in_database(user.save)
    assert await confirm(client, token, OTHER) == (404, "link_invalid")


async def test_link_needs_password_in_another_browser(browser: NewBrowser) -> None:
    user = await new_user()
    token = await begin(await signed_in(browser, user))
    phone = await browser()
    assert await confirm(phone, token) == (403, "address_password_required")
    assert await confirm(phone, token, PASSWORD) == (204, "")
    assert await address_of(user) == NEW
    assert await confirm(phone, token, PASSWORD) == (404, "link_invalid")


async def test_passwords_at_link_are_limited(browser: NewBrowser) -> None:
    user = await new_user()
    token = await begin(await signed_in(browser, user))
    answers = [
        await confirm(await browser(), token, OTHER) for _ in range(LINK_PASSWORDS.attempts + 1)
    ]
    assert answers[:-1] == [(400, "wrong_credentials")] * LINK_PASSWORDS.attempts
    assert answers[-1] == (429, "too_many_attempts")
    assert (await (await browser()).sign_in(user.email, PASSWORD)).status_code == 200


async def test_old_address_stops_change(browser: NewBrowser) -> None:
    user = await new_user()
    client = await signed_in(browser, user)
    token = await begin(client)
    assert NEW in (await mails(user.email))[0]
    stop = await link(user.email, "stop-address-change")
    stopped = await (await browser()).post("/api/auth/address/stop", json={"token": stop})
    assert stopped.status_code == 204
    assert await confirm(client, token) == (404, "link_invalid")
    again = await (await browser()).post("/api/auth/address/stop", json={"token": stop})
    assert (again.status_code, code(again)) == (404, "link_invalid")


async def test_link_of_mail_does_only_its_own(browser: NewBrowser) -> None:
    user = await new_user()
    client = await signed_in(browser, user)
    token = await begin(client)
    stop = await link(user.email, "stop-address-change")
    assert await confirm(client, stop) == (404, "link_invalid")
    confused = await client.post("/api/auth/address/stop", json={"token": token})
    assert confused.status_code == 404
    assert await confirm(client, token) == (204, "")


async def test_change_to_taken_address_tells_old_one_too(browser: NewBrowser) -> None:
    """Otherwise the asker's own mail would show who is registered."""
    user, owner = await new_user(), await new_user()
    client = await signed_in(browser, user)
    await client.post("/api/me/email", json={"email": owner.email})
    assert owner.email in (await mails(user.email))[0]
    assert "nothing has changed" in (await mails(owner.email))[0]


async def test_tokens_of_links_have_192_bits(browser: NewBrowser) -> None:
    user = await new_user()
    client = await signed_in(browser, user)
    tokens = {await begin(client), await begin(client)}
    tokens.add(await link(user.email, "stop-address-change"))
    assert len(tokens) == 3
    for token in tokens:
        assert len(urlsafe_b64decode(f"{token}=")) == 32
    for guess in ("", "x", token[:-1], token.swapcase()):
        answer = await client.post("/api/auth/address/confirm", json={"token": guess})
        assert answer.status_code in (400, 404), guess


async def test_second_request_replaces_first(browser: NewBrowser) -> None:
    user = await new_user()
    client = await signed_in(browser, user)
    first = await begin(client, "first@example.org")
    second = await begin(client, "second@example.org")
    assert await confirm(client, first) == (404, "link_invalid")
    assert await confirm(client, second) == (204, "")


async def test_unverified_address_needs_password_elsewhere(browser: NewBrowser) -> None:
    """Whoever owns the address confirms no account that another person can open."""
    user = await new_user(verified=False)
    await (await browser()).sign_in(user.email, PASSWORD)
    token = await link(user.email, "confirm-address")
    assert await confirm(await browser(), token) == (403, "address_password_required")
    assert await confirm(await browser(), token, PASSWORD) == (204, "")


async def reset(browser: NewBrowser, user: User, **body: bool) -> None:
    client = await browser()
    await client.post("/api/auth/password-reset", json={"email": user.email})
    token = await link(user.email, "reset-password")
    done = await client.post(
        "/api/auth/password-reset/confirm", json={"token": token, "password": OTHER, **body}
    )
    assert done.status_code == 204, done.text


async def status_with(browser: NewBrowser, secret: str) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    return (await (await browser()).get("/v1/models", headers=headers)).status_code


@pytest.mark.parametrize(
    ("verified", "body", "status"),
    [(False, {}, 401), (True, {}, 200), (True, {"revoke_keys": True}, 401)],
    ids=["unconfirmed", "confirmed", "asked"],
)
async def test_reset_revokes_keys(
    browser: NewBrowser, verified: bool, body: dict[str, bool], status: int
) -> None:
    """Where the address was never confirmed, whoever made the keys was not its owner."""
    principal = await in_database(member, password=PASSWORD, verified=verified)
    user = await in_database(User.objects.get, pk=principal.user_id)
    _, secret = await in_database(api_key_of, principal)
    assert await status_with(browser, secret) == 200
    await reset(browser, user, **body)
    assert await status_with(browser, secret) == status
