"""What the tests of an account share: signing up and in through the API, and reading its mails."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from backend.accounts.mail import mail_text
from backend.accounts.models import Mail, User
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.factories import member
from tests.support.second_factor import code_of

PASSWORD = "a long enough one 7"
OTHER = "another long one 8"
LINK = re.compile(r"http://\S+?/([a-z-]+)#(\S+)")

NewBrowser = Callable[..., Awaitable[AsgiClient]]


async def mails(to: str) -> list[str]:
    """Newest first."""

    def read() -> list[str]:
        return [mail_text(mail) for mail in Mail.objects.filter(to=to)]

    return await in_database(read)


async def link(to: str, page: str) -> str:
    """The token of the newest link to `page`."""
    for text in await mails(to):
        found = LINK.search(text)
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
    answer = await client.put("/api/me/totp", json={"code": code_of(secret)})
    assert answer.status_code == 200, answer.text
    return secret, answer.json()["recovery_codes"]


def code(answer: httpx.Response) -> str:
    return str(answer.json()["error"]["code"])
