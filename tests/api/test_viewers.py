"""A viewer sees a project, its people and its use; its contents as other members do."""

import io
from typing import Any

import pytest

from backend.accounts.models import Organization, User
from backend.accounts.project_members import project_member_add
from backend.accounts.projects import project_create, project_update
from backend.conversations.attachments import attachment_create
from backend.conversations.shared_files import project_file_add
from backend.platform.database import in_database
from tests.api.accounts import PASSWORD, NewBrowser
from tests.api.accounts import signed_in as sign_in
from tests.factories import conversation_of, member

pytestmark = pytest.mark.usefixtures("transactional_db")


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Any) -> None:
    storage = "django.core.files.storage.FileSystemStorage"
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": storage, "OPTIONS": {"location": str(tmp_path)}},
    }


class House:
    """An organization with a project that has instructions and a file, and a viewer."""

    def __init__(self, role: str) -> None:
        self.owner = member()
        organization = Organization.objects.get(pk=self.owner.organization_id)
        self.viewer = member(organization=organization, role=role, password=PASSWORD)
        self.project = project_create(principal=self.owner, name="Secret plans")
        project_update(
            principal=self.owner, project_id=self.project.pk, instructions="Speak of gold."
        )
        self.file = attachment_create(
            principal=self.owner, filename="gold.txt", file=io.BytesIO(b"There is gold.")
        )
        project_file_add(
            principal=self.owner, project_id=self.project.pk, attachment_id=self.file.pk
        )
        self.chat = conversation_of(self.viewer)

    def user(self) -> User:
        return User.objects.get(pk=self.viewer.user_id)

    def let_in(self) -> None:
        project_member_add(
            principal=self.owner,
            project_id=self.project.pk,
            user_id=self.viewer.user_id,
            role="member",
        )


async def test_viewer_reads_contents_of_own_projects_only(browser: NewBrowser) -> None:
    house = await in_database(House, "viewer")
    client = await sign_in(browser, await in_database(house.user))
    project = f"/api/projects/{house.project.pk}"
    move = {"project_id": str(house.project.pk)}

    async def seen() -> dict[str, Any]:
        listed = (await client.get("/api/projects")).json()["data"]
        shown = (await client.get(project)).json()
        return {
            "listed": {one["name"]: one["instructions"] for one in listed}["Secret plans"],
            "shown": (shown["instructions"], shown["is_open"]),
            "files": (await client.get(f"{project}/files")).status_code,
            "file": (await client.get(f"/api/attachments/{house.file.pk}")).status_code,
            "move": (
                await client.patch(f"/api/conversations/{house.chat.pk}", json=move)
            ).status_code,
            "begin": (await client.post("/api/conversations", json=move)).status_code,
            "members": (await client.get(f"{project}/members")).status_code,
        }

    assert await seen() == {
        **{"listed": "", "shown": ("", False), "members": 200},
        **dict.fromkeys(("files", "file", "move", "begin"), 404),
    }
    await in_database(house.let_in)
    assert await seen() == {
        **{"listed": "Speak of gold.", "shown": ("Speak of gold.", True), "members": 200},
        **{"files": 200, "file": 200, "move": 200, "begin": 201},
    }


async def test_member_does_not_see_other_projects(browser: NewBrowser) -> None:
    house = await in_database(House, "member")
    client = await sign_in(browser, await in_database(house.user))
    names = [one["name"] for one in (await client.get("/api/projects")).json()["data"]]
    assert names == ["Default"]
    for path in ("", "/files", "/members"):
        answer = await client.get(f"/api/projects/{house.project.pk}{path}")
        assert answer.status_code == 404, path
