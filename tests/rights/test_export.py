"""An export has all of its subject and nothing of others, and is made in chunks."""

import hashlib
import io
import json
import tracemalloc
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from backend.accounts.models import Mail, Organization, User
from backend.conversations.models import Message
from backend.platform.database import in_database
from backend.platform.errors import Conflict, NotFound, PermissionDenied
from backend.rights import export as exporting
from backend.rights.export import exports_expire
from backend.rights.jobs import jobs_run
from backend.rights.models import DataExport, JobState
from backend.rights.requests import (
    export_by_token,
    export_link,
    export_request,
    exports_of,
)
from tests.api.asgi_client import AsgiClient
from tests.factories import member
from tests.rights.test_erasure import WORDS, files, furnish

__all__ = ["files"]
pytestmark = pytest.mark.django_db


def opened(export: DataExport) -> zipfile.ZipFile:
    export.refresh_from_db()
    assert export.state == JobState.DONE, export.error
    return zipfile.ZipFile(io.BytesIO(export.file.open("rb").read()))


def lines(archive: zipfile.ZipFile, label: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in archive.read(f"{label}.jsonl").splitlines()]


@pytest.mark.parametrize("whole_organization", [False, True])
def test_export_has_all_of_its_subject_and_nothing_of_others(whole_organization: bool) -> None:
    principal = member(name="Grace")
    organization = Organization.objects.get(pk=principal.organization_id)
    colleague = member(organization=organization, role="member")
    other = member()
    for one in (principal, colleague, other):
        furnish(one)
        Message.objects.filter(conversation__user_id=one.user_id).update(text=str(one.user_id))
    export = export_request(principal=principal, whole_organization=whole_organization)
    assert jobs_run() == 1
    archive = opened(export)

    texts = {row["text"] for row in lines(archive, "conversations.Message")}
    expected = {str(principal.user_id)}
    if whole_organization:
        expected.add(str(colleague.user_id))
    assert texts == expected
    assert len([name for name in archive.namelist() if name.startswith("files/")]) == len(expected)
    assert {row["text"] for row in lines(archive, "audit.StoredText")} == {"what was written"}
    everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    foreign = [other.user_id, other.organization_id]
    foreign += [] if whole_organization else [colleague.user_id]
    for identity in foreign:
        assert str(identity) not in everything
        assert identity.hex not in everything
    secrets = set(User.objects.values_list("password", flat=True))
    for key in organization.api_keys.all():
        secrets.add(key.sha256)
    assert not [secret for secret in secrets if secret in everything]
    assert WORDS in everything
    readme = json.loads(archive.read("README.json"))
    assert readme["rows"]["conversations.Message"] == 4 * len(expected)
    text = archive.read("README.md").decode()
    for label in readme["rows"]:
        _, described = text.split(f"## {label}.jsonl\n")
        described = described.split("\n## ")[0]
        for field in lines(archive, label)[0]:
            assert f"| `{field}` |" in described, (label, field)


def test_export_goes_on_where_a_worker_died_and_leaves_no_parts(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    principal = member()
    furnish(principal)
    export = export_request(principal=principal)

    def fails(*args: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(exporting, "_write_zip", fails)
        jobs_run()
    export.refresh_from_db()
    assert export.progress["conversations.Message"] == 4
    # A table that was written is not read again.
    Message.objects.all().delete()
    DataExport.objects.update(claimed_until=None)
    assert jobs_run() == 1
    assert len(lines(opened(export), "conversations.Message")) == 4
    assert [path.name for path in files.rglob("*.jsonl")] == []
    address = User.objects.get(pk=principal.user_id).email
    assert Mail.objects.filter(kind="export", to=address).count() == 1


def test_link_is_signed_short_lived_and_only_for_whose_it_is() -> None:
    principal = member()
    organization = Organization.objects.get(pk=principal.organization_id)
    admin = member(organization=organization, role="admin")
    with pytest.raises(PermissionDenied):
        export_request(principal=admin, whole_organization=True)
    export = export_request(principal=principal, whole_organization=True)
    with pytest.raises(NotFound):
        export_link(principal=principal, export_id=export.pk)  # not done
    with pytest.raises(Conflict):
        export_request(principal=principal, whole_organization=True)
    jobs_run()
    with pytest.raises(Conflict) as refused:
        export_request(principal=principal, whole_organization=True)
    assert refused.value.code == "export_recent"
    for other in (admin, member()):
        assert not exports_of(other).exists()
        with pytest.raises(NotFound):
            export_link(principal=other, export_id=export.pk)
    token = export_link(principal=principal, export_id=export.pk)
    assert export_by_token(token).pk == export.pk
    with pytest.raises(NotFound):
        export_by_token(token)  # used
    token = export_link(principal=principal, export_id=export.pk)
    for forged in (token[:-1] + ("A" if token[-1] != "A" else "B"), "", "x:y:z", "a" * 900):
        with pytest.raises(NotFound):
            export_by_token(forged)
    DataExport.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotFound):
        export_by_token(token)
    assert exports_expire() == 1
    export.refresh_from_db()
    assert not export.file
    assert exports_expire() == 0


def test_memory_stays_flat_however_large_the_files_are() -> None:
    principal = member()
    furnish(principal)
    size = 24 * 1024 * 1024
    large = exporting.BY_LABEL["conversations.Attachment"].model._default_manager.get()
    large.file.save("large.txt", ContentFile(b"0" * size))  # type: ignore[attr-defined]
    export_request(principal=principal)
    tracemalloc.start()
    try:
        assert jobs_run() == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size / 4


@pytest.mark.django_db(transaction=True)
async def test_copy_is_asked_for_and_downloaded_at_the_products_door() -> None:
    password = "correct horse battery staple"
    owner = await in_database(member, password=password)
    organization = await in_database(Organization.objects.get, pk=owner.organization_id)
    admin = await in_database(member, organization=organization, role="admin", password=password)
    for one in (owner, admin):
        await in_database(furnish, one)

    async with AsgiClient() as http, AsgiClient() as other:
        for client, principal in ((http, owner), (other, admin)):
            user = await in_database(User.objects.get, pk=principal.user_id)
            assert (await client.sign_in(user.email, password)).status_code == 200
        refused = await other.post("/api/exports", json={"scope": "organization"})
        assert refused.status_code == 403
        theirs = {str(owner.user_id)}
        assert await chats_in_copy(http, other, "me") == theirs
        assert await chats_in_copy(http, other, "organization") == theirs | {str(admin.user_id)}


async def chats_in_copy(http: AsgiClient, other: AsgiClient, scope: str) -> set[str]:
    """Whose chats are in the copy that `http` asks for, which `other` may not have."""
    asked = await http.post("/api/exports", json={"scope": scope})
    assert (asked.status_code, asked.json()["state"]) == (202, "queued"), asked.text
    await in_database(jobs_run)
    exports = (await http.get("/api/exports")).json()["data"]
    [export] = [one for one in exports if one["scope"] == scope]
    assert export["state"] == "done"
    path = f"/api/exports/{export['id']}/link"
    assert (await other.post(path)).status_code == 404
    url = (await http.post(path)).json()["url"]
    async with AsgiClient() as anybody:  # the link is enough, and nothing less
        found = await anybody.get(url)
        assert found.headers["Content-Disposition"].startswith("attachment")
        assert hashlib.sha256(found.content).hexdigest() == export["sha256"]
        for wrong in (url[:-2], url.split("?")[0], url.replace("token=", "token=x")):
            assert (await anybody.get(wrong)).status_code in (400, 404)
    with zipfile.ZipFile(io.BytesIO(found.content)) as archive:
        return {str(row["user_id"]) for row in lines(archive, "conversations.Conversation")}
