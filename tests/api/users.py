"""People and programs that use the running product over HTTP, each with cookies of their own."""

import itertools
import secrets
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.outbox import token_mailed

_numbers = itertools.count(1)


class Browser(httpx.Client):
    """Keeps cookies, and sends the CSRF token as our page does."""

    def __init__(self, url: str) -> None:
        super().__init__(base_url=url, timeout=120, event_hooks={"request": [self._add_token]})
        self.get("/")  # the page, which sets the CSRF cookie, built or not

    def _add_token(self, request: httpx.Request) -> None:
        token = self.cookies.get("csrftoken")
        if request.method not in {"GET", "HEAD", "OPTIONS"} and token:
            request.headers.setdefault("X-CSRFToken", token)


@dataclass
class Person:
    """Somebody with an account, signed in."""

    browser: Browser
    email: str
    password: str = field(repr=False)
    me: dict[str, Any]

    @property
    def organization_id(self) -> str:
        return str(self.me["organization"]["id"])

    def new_key(self, **options: Any) -> dict[str, Any]:
        answer = self.browser.post("/api/keys", json={"name": "test", **options})
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created

    def new_invitation(self, **options: Any) -> dict[str, Any]:
        answer = self.browser.post(
            "/api/organization/invitations", json={"role": "member", **options}
        )
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created

    def new_conversation(self, **options: Any) -> str:
        """It has a title: one that has none is named by a model, after its first answer."""
        answer = self.browser.post("/api/conversations", json={"title": "A chat", **options})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])


def sign_up(url: str, name: str = "Test Person", invitation: str | None = None) -> Person:
    """A new person, whose address is verified, in an organization of their own, or in that of the
    `invitation`."""
    browser = Browser(url)
    word = name.lower().replace(" ", "-")
    email = f"{word}{next(_numbers)}-{secrets.token_hex(4)}@example.org"
    password = secrets.token_urlsafe(16)
    account = {"email": email, "password": password, "name": name, "invitation": invitation}
    answer = browser.post("/api/auth/signup", json=account)
    assert answer.status_code == 202, answer.text
    token = token_mailed(url, email, "confirm-sign-up")
    answer = browser.post("/api/auth/signup/confirm", json={"token": token})
    assert answer.status_code == 200, answer.text
    return Person(browser, email, password, answer.json())


def program(url: str, secret: str) -> httpx.Client:
    """A developer's program: a bearer key, no cookies."""
    return httpx.Client(base_url=url, timeout=120, headers={"Authorization": f"Bearer {secret}"})
