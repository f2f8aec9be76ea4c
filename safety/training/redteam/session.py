"""A signed-in person: files of projects belong to people, and a program's key does not reach
them."""

from pathlib import Path

import httpx

TIMEOUT_S = 300


def signed_in(base_url: str, login: Path) -> httpx.Client:
    """A client with the session of the account in `login`, and its CSRF token in every request.

    Args:
        login: lines `email: …` and `password: …`, as `var/demo-login.txt` has them.
    Raises:
        ValueError: the file names no account.
        RuntimeError: the product does not let the account in by its password alone.
    """
    client = httpx.Client(
        base_url=base_url, headers={"Origin": _origin(base_url)}, timeout=TIMEOUT_S
    )
    client.get("/").raise_for_status()  # the page, which sets the CSRF cookie
    _carry_token(client)
    answer = client.post("/api/auth/login", json=_account_in(login))
    if answer.status_code != 200:
        why = "it needs a second factor" if answer.status_code == 202 else answer.text
        raise RuntimeError(f"The account in {login} was not signed in at {base_url}: {why}.")
    _carry_token(client)  # signing in has changed it
    return client


def _account_in(login: Path) -> dict[str, str]:
    lines = (line.partition(":") for line in login.read_text(encoding="utf-8").splitlines())
    found = {name.strip().lower(): value.strip() for name, _, value in lines}
    if not (found.get("email") and found.get("password")):
        raise ValueError(f"{login} must have the lines 'email: …' and 'password: …'.")
    return {"email": found["email"], "password": found["password"]}


def _carry_token(client: httpx.Client) -> None:
    cookies = {cookie.name: cookie.value for cookie in client.cookies.jar}
    [token] = [value for name, value in cookies.items() if name.endswith("csrftoken")]
    client.headers["X-CSRFToken"] = token or ""


def _origin(base_url: str) -> str:
    url = httpx.URL(base_url)
    return f"{url.scheme}://{url.netloc.decode()}"
