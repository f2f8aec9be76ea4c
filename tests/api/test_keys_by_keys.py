"""A key that makes keys gives them its own project, models, scopes and time, and ends with them."""

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from backend.accounts.authentication import principal_for_api_key
from backend.accounts.models import APIKey
from backend.accounts.principal import Principal
from backend.accounts.projects import project_create, project_update
from backend.accounts.services import api_key_create, api_key_revoke
from backend.platform.database import in_database
from tests.api.accounts import NewBrowser
from tests.factories import member

pytestmark = pytest.mark.usefixtures("transactional_db")


class Keys:
    """An owner's key of a project that allows one model, and what is done with it."""

    def __init__(self, browser: NewBrowser) -> None:
        self.browser = browser

    async def start(self, **fields: Any) -> "Keys":
        self.owner = await in_database(member)
        self.project = await in_database(project_create, principal=self.owner, name="Sandbox")
        await in_database(
            project_update,
            principal=self.owner,
            project_id=self.project.pk,
            allowed_models=["smollm2-135m"],
        )
        self.key, self.secret = await in_database(
            api_key_create,
            principal=self.owner,
            name="parent",
            project_id=self.project.pk,
            **fields,
        )
        return self

    async def make(self, secret: str = "", **body: Any) -> httpx.Response:
        return await self.call("POST", "/api/keys", secret, {"name": "child", **body})

    async def call(
        self, method: str, path: str, secret: str = "", body: Any = None
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {secret or self.secret}"}
        return await (await self.browser()).request(method, path, json=body, headers=headers)


def default_project(owner: Principal) -> str:
    return str(owner.project_id)


async def test_key_makes_keys_of_its_own_project_only(browser: NewBrowser) -> None:
    keys = await Keys(browser).start()
    elsewhere = await keys.make(project_id=default_project(keys.owner))
    assert (elsewhere.status_code, elsewhere.json()["error"]["param"]) == (404, "project_id")
    made = await keys.make()
    assert made.status_code == 201, made.text
    child = await in_database(APIKey.objects.get, pk=made.json()["id"])
    assert child.project_id == keys.project.pk


async def test_models_of_project_bind_what_key_made(browser: NewBrowser) -> None:
    keys = await Keys(browser).start()
    child = await principal_for_api_key((await keys.make()).json()["secret"])
    assert child.project.allowed_models == {"smollm2-135m"}


async def test_key_makes_no_key_that_ends_later(browser: NewBrowser) -> None:
    end = timezone.now() + timedelta(minutes=10)
    keys = await Keys(browser).start(expires_at=end)
    later = await keys.make(expires_at=(end + timedelta(seconds=1)).isoformat())
    assert (later.status_code, later.json()["error"]["param"]) == (400, "expires_at")
    without_end = await keys.make()
    assert datetime.fromisoformat(without_end.json()["expires_at"]) == end
    sooner = end - timedelta(minutes=5)
    made = await keys.make(expires_at=sooner.isoformat())
    assert datetime.fromisoformat(made.json()["expires_at"]) == sooner


async def test_revoked_key_takes_along_what_it_made(browser: NewBrowser) -> None:
    """Also what was made by what it made."""
    keys = await Keys(browser).start()
    child = (await keys.make()).json()["secret"]
    grandchild = (await keys.make(child)).json()["secret"]
    beside, other = await in_database(api_key_create, principal=keys.owner, name="beside")
    for secret in (child, grandchild, other):
        assert (await keys.call("GET", "/v1/models", secret)).status_code == 200
    await in_database(api_key_revoke, principal=keys.owner, key_id=keys.key.pk)
    for secret, status in ((child, 401), (grandchild, 401), (other, 200)):
        assert (await keys.call("GET", "/v1/models", secret)).status_code == status
    assert await in_database(APIKey.objects.filter(revoked_at=None).get) == beside
