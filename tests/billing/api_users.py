"""Members with an API key, who talk to the application in this process over HTTP."""

import functools
from typing import Any

import httpx
import openai
from asgiref.sync import sync_to_async
from django.core.asgi import get_asgi_application

from backend.accounts.models import Membership, Organization
from backend.accounts.principal import Principal
from backend.accounts.scopes import Scope
from backend.accounts.services import api_key_create
from tests.billing import factories


@functools.cache
def _application() -> Any:
    return get_asgi_application()


def in_process() -> httpx.ASGITransport:
    return httpx.ASGITransport(app=_application())


class ApiUser:
    """A member with an API key, talking to the application in this process."""

    def __init__(self, principal: Principal, secret: str) -> None:
        self.principal, self.secret = principal, secret
        self.http = httpx.AsyncClient(
            transport=in_process(),
            base_url="http://testserver",
            headers={"Authorization": f"Bearer {secret}"},
        )

    @property
    def openai(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            api_key=self.secret,
            admin_api_key=self.secret,
            base_url="http://testserver/v1",
            http_client=self.http,
            max_retries=0,
        )

    async def get(self, path: str, **params: Any) -> Any:
        return await self.http.get(path, params=params or None)


@sync_to_async
def api_user_new(
    *, role: str, organization: Organization | None = None, scopes: tuple[Scope, ...] = ()
) -> ApiUser:
    """A member with that role (of a new organization, when none is given) and a new key."""
    principal = factories.principal(organization=organization)
    _, secret = api_key_create(principal=principal, name="ci", scopes=scopes)
    Membership.objects.filter(user_id=principal.user_id).update(role=role)
    return ApiUser(principal, secret)
