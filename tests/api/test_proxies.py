"""Whose word about a client's address is taken."""

import secrets
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from backend.api.proxies import proxies_from
from backend.api.throttling import LOGINS_PER_ADDRESS
from tests.api.asgi_client import AsgiClient
from tests.api.users import Browser
from tests.support.scripted import ScriptedProduct


def wrong_logins(url: str, addresses: list[str]) -> list[int]:
    """The statuses of one wrong password for each forwarded address, each for another account."""
    browser = Browser(url)
    try:
        return [
            browser.post(
                "/api/auth/login",
                json={"email": f"{secrets.token_hex(8)}@example.org", "password": "wrong"},
                headers={"X-Forwarded-For": address},
            ).status_code
            for address in addresses
        ]
    finally:
        browser.close()


@pytest.mark.usefixtures("transactional_db", "static_files")
async def test_forwarded_header_is_ignored_when_no_proxy_is_trusted(
    settings: Any,
) -> None:
    settings.PASSWORD_HASHERS = ["tests.support.hashers.CheapArgon2PasswordHasher"]
    async with AsgiClient() as client:
        answers = []
        await client.get("/")
        for n in range(LOGINS_PER_ADDRESS.attempts + 1):
            client.headers["X-Forwarded-For"] = f"198.51.100.{n}"
            credentials = {"email": f"{n}@example.org", "password": "wrong"}
            answers.append(await client.post("/api/auth/login", json=credentials))
    assert [answer.status_code for answer in answers[:-1]] == [401] * (len(answers) - 1)
    assert answers[-1].status_code == 429


def test_clients_behind_a_trusted_proxy_are_limited_by_their_own_address(
    scripted_product: ScriptedProduct,
) -> None:
    attempts = LOGINS_PER_ADDRESS.attempts
    # What the client itself puts in front of the list is not looked at.
    spoofed = [f"203.0.113.{n}, 198.51.100.7" for n in range(attempts + 1)]
    assert wrong_logins(scripted_product.url, spoofed) == [401] * attempts + [429]
    assert wrong_logins(scripted_product.url, ["198.51.100.8"]) == [401]


@pytest.mark.parametrize(
    ("setting", "peer", "forwarded", "client"),
    [
        ("", "192.0.2.1", ["198.51.100.1"], "192.0.2.1"),
        ("10.0.0.0/8", "10.0.0.9", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.0/8", "::ffff:10.0.0.9", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.0/8", "192.0.2.1", ["198.51.100.1"], "192.0.2.1"),
        ("10.0.0.0/8", "10.0.0.9", ["203.0.113.1", "198.51.100.1", "10.7.0.1"], "198.51.100.1"),
        ("10.0.0.0/8", "10.0.0.9", ["198.51.100.1", "unknown"], "10.0.0.9"),
        ("10.0.0.0/8,fd00::/8", "fd00::1", ["[2001:db8::5]:443"], "2001:db8::5"),
        ("10.0.0.0/8", "10.0.0.9", [], "10.0.0.9"),
        ("1", "192.0.2.1", ["203.0.113.1", "198.51.100.1"], "198.51.100.1"),
        ("2", "192.0.2.1", ["203.0.113.1", "198.51.100.1"], "203.0.113.1"),
        ("2", "192.0.2.1", ["198.51.100.1"], "192.0.2.1"),
        ("1", "192.0.2.1", [], "192.0.2.1"),
    ],
)
def test_client_address_is_the_last_untrusted_one(
    setting: str, peer: str, forwarded: list[str], client: str
) -> None:
    assert proxies_from(setting).client(peer, forwarded) == client


@given(claimed=st.lists(st.text(max_size=60), max_size=6))
def test_client_address_is_the_same_whatever_headers_are_sent(claimed: list[str]) -> None:
    """The nearest proxy appends the truth; what stands before it is the client's own."""
    for setting in ("10.0.0.0/8", "1"):
        proxies = proxies_from(setting)
        assert proxies.client("10.0.0.9", [*claimed, "198.51.100.1"]) == "198.51.100.1"


@pytest.mark.parametrize("value", ["proxy.local", "10.0.0.1/8", "11", "-1", "10.0.0.0/33"])
def test_trusted_proxies_setting_is_refused_when_invalid(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PARLEY_TRUSTED_PROXIES"):
        proxies_from(value)
