"""Asks the product for a first token, through the same door as a user.

It signs in as the demo owner and asks for an answer of one token by the ordinary API: only
when that arrives do web, database, Redis, gateway, safety and the engine work together.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import httpx

_RETRY_SECONDS = 0.5
_REQUEST_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class DemoLogin:
    email: str
    password: str


def read_demo_login(var: Path) -> DemoLogin:
    """The login that `manage.py seed_demo` keeps: lines `email: …` and `password: …`."""
    values = {}
    for line in (var / "demo-login.txt").read_text().splitlines():
        name, _, value = line.partition(":")
        values[name.strip().lower()] = value.strip()
    return DemoLogin(values["email"], values["password"])


def wait_for_first_token(url: str, login: DemoLogin, *, timeout: float) -> str | None:
    """Try until a token has been served.

    Returns:
        None when it was, else why the last attempt within `timeout` seconds failed.
    """
    deadline = time.monotonic() + timeout
    while True:
        failure = _attempt(url, login)
        if failure is None or time.monotonic() > deadline:
            return failure
        time.sleep(_RETRY_SECONDS)


def _attempt(url: str, login: DemoLogin) -> str | None:
    try:
        with httpx.Client(base_url=url, timeout=_REQUEST_TIMEOUT_SECONDS) as client:
            client.get("/api/me")  # brings the CSRF cookie
            signed_in = client.post(
                "/api/auth/login",
                json={"email": login.email, "password": login.password},
                headers=_csrf(client, url),
            )
            if signed_in.is_error:
                return f"signing in answered {signed_in.status_code}"
            answer = client.post(
                "/api/chat/completions",
                json={
                    "model": "auto",
                    "messages": [{"role": "user", "content": "Hello"}],
                    "max_tokens": 1,
                },
                headers=_csrf(client, url),
            )
            client.post("/api/auth/logout", headers=_csrf(client, url))
            if answer.is_error:
                return f"the first request answered {answer.status_code}: {answer.text[:200]}"
            if answer.json()["usage"]["completion_tokens"] < 1:
                return "the first answer held no token"
            return None
    except httpx.HTTPError as error:
        return f"{type(error).__name__}: {error}"


def _csrf(client: httpx.Client, url: str) -> dict[str, str]:
    return {"X-CSRFToken": client.cookies.get("csrftoken") or "", "Origin": url, "Referer": url}
