"""Asks the product for a first token, through the same door as a user.

It signs in as the demo owner and asks for an answer of one token by the ordinary API: only
when that arrives do web, database, Redis, gateway, safety and the engine work together.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

_RETRY_SECONDS = 1.0
_REQUEST_TIMEOUT_SECONDS = 30.0


class LoginRefusedError(Exception):
    """The product serves and refuses the demo owner's login, as after a change of the password."""

    def __init__(self, status: int) -> None:
        super().__init__(f"signing in answered {status}")


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


def wait_for_first_token(
    url: str, login: DemoLogin, *, engine_url: str | None, timeout: float
) -> str | None:
    """Wait for the engine, then for the product, then ask for a token, each again if need be.

    Args:
        engine_url: the engine that was started beside the product; None when there is none.

    Returns:
        None when one was served, else why the last attempt within `timeout` seconds failed.
    Raises:
        LoginRefusedError: at the first refusal; more of them would lock the owner out.
    """
    deadline = time.monotonic() + timeout
    with httpx.Client(base_url=url, timeout=_REQUEST_TIMEOUT_SECONDS) as client:
        attempts: list[Callable[[httpx.Client], str | None]] = [
            _ready,
            lambda client: _first_token(client, login),
        ]
        if engine_url is not None:
            attempts.insert(0, lambda client: _engine_ready(client, engine_url))
        for attempt in attempts:
            while True:
                try:
                    failure = attempt(client)
                except httpx.HTTPError as error:
                    failure = f"{type(error).__name__}: {error}"
                if failure is None:
                    break
                if time.monotonic() > deadline:
                    return failure
                time.sleep(_RETRY_SECONDS)
    return None


def _engine_ready(client: httpx.Client, engine_url: str) -> str | None:
    answer = client.get(f"{engine_url}/ready")
    return None if answer.status_code == 200 else "the engine is still loading its model"


def _ready(client: httpx.Client) -> str | None:
    answer = client.get("/readyz").json()
    missing = [
        name
        for name, check in answer["checks"].items()
        if not check["ok"] and (check["required"] or name == "replicas")
    ]
    return f"the product is not ready: {', '.join(missing)}" if missing else None


def _first_token(client: httpx.Client, login: DemoLogin) -> str | None:
    client.get("/")  # the page brings the CSRF cookie
    credentials: dict[str, object] = {"email": login.email, "password": login.password}
    signed_in = _post(client, "/api/auth/login", credentials)
    if signed_in.is_client_error:
        raise LoginRefusedError(signed_in.status_code)
    if signed_in.is_error:
        return f"signing in answered {signed_in.status_code}"
    if signed_in.status_code == httpx.codes.ACCEPTED:
        # The owner has added a second factor: only they can ask for a token now.
        return None
    answer = _post(
        client,
        "/api/chat/completions",
        {
            "model": "auto",
            "messages": [{"role": "user", "content": "Hello"}],
            "max_tokens": 1,
        },
    )
    _post(client, "/api/auth/logout", {})
    if answer.is_error:
        return f"the first request answered {answer.status_code}: {answer.text[:200]}"
    if answer.json()["usage"]["completion_tokens"] < 1:
        return "the first answer held no token"
    return None


def _post(client: httpx.Client, path: str, body: dict[str, object]) -> httpx.Response:
    """Send `body` with all cookies: those for https alone too, where the public URL is one and
    the probe asks the web process itself."""
    cookies = {cookie.name: cookie.value or "" for cookie in client.cookies.jar}
    token = next(value for name, value in cookies.items() if name.endswith("csrftoken"))
    headers = {
        "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        "X-CSRFToken": token,
    }
    return client.post(path, json=body, headers=headers)
