"""What the purge leaves of files that a project or an assistant has, and the bound on them."""

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils import timezone

from backend.accounts.models import Project
from backend.conversations import shared_files
from backend.conversations.models import Assistant, Attachment, Conversation
from backend.conversations.purge import unused_uploads_purge
from backend.platform.errors import Conflict
from tests.factories import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return member(role="owner")


def new_upload(user):
    name = default_storage.save("attachments/a.txt", ContentFile(b"The gate opens at seven."))
    return Attachment.objects.create(
        organization_id=user.organization_id,
        user_id=user.user_id,
        kind="text",
        filename="a.txt",
        content_type="text/plain",
        size=24,
        file=name,
    )


def new_project(user):
    return Project.objects.create(organization_id=user.organization_id, name="House")


def test_purge_takes_a_file_when_it_was_removed_and_not_before(user):
    project, upload = new_project(user), new_upload(user)
    ids = {"project_id": project.pk, "attachment_id": upload.pk}
    shared_files.project_file_add(principal=user, **ids)
    later = timezone.now() + timedelta(days=2)
    assert unused_uploads_purge(now=later) == 0
    assert upload.passages.get().text == "The gate opens at seven."

    shared_files.project_file_remove(principal=user, **ids)
    assert unused_uploads_purge(now=later) == 1
    assert not default_storage.exists(upload.file.name)


def test_project_has_so_many_files_at_most(user, monkeypatch):
    monkeypatch.setattr(shared_files, "MAX_FILES", 1)
    project = new_project(user)
    first, second = new_upload(user), new_upload(user)
    shared_files.project_file_add(principal=user, project_id=project.pk, attachment_id=first.pk)
    with pytest.raises(Conflict):
        shared_files.project_file_add(
            principal=user, project_id=project.pk, attachment_id=second.pk
        )


def test_file_has_one_place_alone(user):
    places = {
        "project": new_project(user),
        "assistant": Assistant.objects.create(
            organization_id=user.organization_id, user_id=user.user_id, name="Pirate"
        ),
        "conversation": Conversation.objects.create(
            organization_id=user.organization_id, user_id=user.user_id, model="auto"
        ),
    }
    upload = new_upload(user)
    for left_out in places:
        two = {name: place for name, place in places.items() if name != left_out}
        with pytest.raises(IntegrityError), transaction.atomic():
            Attachment.objects.filter(pk=upload.pk).update(**two)
