"""Guessing passwords, at the page's door and at the staff's, and keeping somebody else out."""

import asyncio
import threading
import time
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher

from backend.accounts.models import User
from backend.api.devices import cookie_name
from backend.api.throttling import LOGINS_PER_ADDRESS, LOGINS_PER_DEVICE, LOGINS_PER_EMAIL
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.factories import member

pytestmark = [pytest.mark.usefixtures("transactional_db", "static_files")]

PASSWORD = "a long enough one 7"


async def user_new(**fields: Any) -> User:
    principal = await in_database(member, password=PASSWORD, **fields)
    return await in_database(User.objects.get, pk=principal.user_id)


async def test_staff_sign_in_is_refused_with_retry_after_when_ten_passwords_were_wrong() -> None:
    staff = await user_new(is_staff=True, is_superuser=True)
    async with AsgiClient() as guesser:
        answers = [
            await guesser.sign_in_as_staff(staff.email, "wrong")
            for _ in range(LOGINS_PER_EMAIL.attempts + 1)
        ]
        right = await guesser.sign_in_as_staff(staff.email, PASSWORD)
    assert [a.status_code for a in answers] == [200] * LOGINS_PER_EMAIL.attempts + [429]
    assert "Too many attempts. Try again in" in answers[-1].text
    assert "login-form" in answers[-1].text
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert right.status_code == 429


async def test_staff_sign_in_is_limited_by_address_over_many_accounts() -> None:
    async with AsgiClient() as guesser:
        statuses = [
            (await guesser.sign_in_as_staff(f"{n}@example.org", "wrong")).status_code
            for n in range(LOGINS_PER_ADDRESS.attempts + 1)
        ]
    assert statuses == [200] * LOGINS_PER_ADDRESS.attempts + [429]


async def test_page_and_staff_sign_in_share_their_counters() -> None:
    staff = await user_new(is_staff=True)
    async with AsgiClient() as guesser:
        for _ in range(LOGINS_PER_EMAIL.attempts):
            assert (await guesser.sign_in(staff.email, "wrong")).status_code == 401
        assert (await guesser.sign_in_as_staff(staff.email, "wrong")).status_code == 429


async def test_staff_sign_in_with_the_right_password_is_not_counted() -> None:
    staff = await user_new(is_staff=True)
    for _ in range(LOGINS_PER_EMAIL.attempts + 2):
        async with AsgiClient() as browser:
            assert (await browser.sign_in_as_staff(staff.email, PASSWORD)).status_code == 302
            assert (await browser.get("/admin/second-factor/")).status_code == 200


@pytest.mark.parametrize("door", ["sign_in", "sign_in_as_staff"])
async def test_known_browser_signs_in_while_other_clients_guess_passwords(door: str) -> None:
    owner = await user_new(is_staff=True)
    async with (
        AsgiClient() as known,
        AsgiClient("203.0.113.9") as guesser,
        AsgiClient() as neighbour,
    ):
        assert (await getattr(known, door)(owner.email, PASSWORD)).is_error is False
        for _ in range(LOGINS_PER_EMAIL.attempts):
            await guesser.sign_in(owner.email, "wrong")
        assert (await guesser.sign_in(owner.email, PASSWORD)).status_code == 429

        # And somebody at the known browser's own address uses up that address.
        for n in range(LOGINS_PER_ADDRESS.attempts + 1):
            last = await neighbour.sign_in(f"{n}@example.org", "wrong")
        assert last.status_code == 429

        known.cookies.delete("sessionid")
        assert (await getattr(known, door)(owner.email, PASSWORD)).is_error is False
        # That it signed in forgives nothing to those who guess.
        assert (await guesser.sign_in(owner.email, PASSWORD)).status_code == 429


async def test_known_browser_is_limited_by_its_own_counter() -> None:
    owner = await user_new()
    async with AsgiClient() as known:
        assert (await known.sign_in(owner.email, PASSWORD)).status_code == 200
        statuses = [
            (await known.sign_in(owner.email, "wrong")).status_code
            for _ in range(LOGINS_PER_DEVICE.attempts + 1)
        ]
    assert statuses == [401] * LOGINS_PER_DEVICE.attempts + [429]


async def test_known_browser_cookie_is_ignored_for_another_account() -> None:
    owner, attacker = await user_new(), await user_new()
    async with AsgiClient("203.0.113.9") as guesser:
        assert (await guesser.sign_in(attacker.email, PASSWORD)).status_code == 200
        [(_, shown)] = [(n, v) for n, v in guesser.cookies.items() if n.startswith("device_")]
        for forged in (shown, shown[:-1], "", "x" * 5000):
            guesser.cookies.set(cookie_name(owner.email), forged)
            for _ in range(LOGINS_PER_EMAIL.attempts):
                last = await guesser.sign_in(owner.email, "wrong")
        assert last.status_code == 429


async def test_at_most_two_passwords_are_hashed_at_once_by_all_routes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    staff = await user_new(is_staff=True)
    original, lock, running, most = Argon2PasswordHasher.verify, threading.Lock(), 0, 0

    def counted(self: Argon2PasswordHasher, password: str, encoded: str) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            time.sleep(0.05)
            return original(self, password, encoded)
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(Argon2PasswordHasher, "verify", counted)
    callers = [AsgiClient(f"198.51.100.{n}") for n in range(8)]
    await asyncio.gather(
        *(
            caller.sign_in(staff.email, PASSWORD)
            if n % 2
            else caller.sign_in_as_staff(staff.email, PASSWORD)
            for n, caller in enumerate(callers)
        )
    )
    for caller in callers:
        await caller.aclose()
    assert most == 2
