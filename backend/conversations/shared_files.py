"""Files of a project or an assistant: added once, and read by the model in every chat with it, as
if they had been attached to the chat's first message.

An upload becomes the project's, or the assistant's, and is no message's any more. Who manages that
adds and removes files, who sees it reads them. A chat is given them while its person may use it.
One that is removed is an upload that nothing uses: the hourly purge erases it, under a legal hold
later.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from backend.accounts.models import Project
from backend.accounts.principal import Principal
from backend.accounts.project_access import project_managed, project_opened, project_used_by
from backend.audit.actions import Action
from backend.audit.services import record
from backend.conversations.assistant_access import (
    assistant_edited,
    assistant_get,
    assistant_seen_by,
)
from backend.conversations.attachments import passages_ensure
from backend.conversations.models import (
    Assistant,
    Attachment,
    AttachmentKind,
    Conversation,
    MessageRole,
)
from backend.conversations.parts import parts_for_model
from backend.conversations.types import ChatMessage, Part
from backend.platform.errors import Conflict, InvalidRequest, NotFound

MAX_FILES = 40


def project_files(*, principal: Principal, project_id: UUID) -> list[Attachment]:
    """In the order in which they were uploaded. Raises NotFound."""
    return _in_order(project_opened(principal, project_id).files.all())


def assistant_files(*, principal: Principal, assistant_id: UUID) -> list[Attachment]:
    """In the order in which they were uploaded. Raises NotFound."""
    found = assistant_get(principal=principal, assistant_id=assistant_id)
    return _in_order(found.files.all())


@transaction.atomic
def project_file_add(*, principal: Principal, project_id: UUID, attachment_id: UUID) -> Attachment:
    """Make an upload of the caller's, that nothing uses yet, a file of the project.

    Raises:
        NotFound: the upload; NotFound, PermissionDenied, Conflict: see `project_managed`.
        Conflict: the project has as many files as it may have.
        InvalidRequest: an image; or the default project, in which every chat is that nobody has
            put elsewhere.
    """
    project = project_managed(principal, project_id)
    if project.is_default:
        raise InvalidRequest("The default project has no files.", param="project_id")
    attachment = _usable_upload(principal, project, attachment_id)
    attachment.project = project
    attachment.save(update_fields=["project"])
    _record(principal, project, file_added=attachment.pk)
    return attachment


@transaction.atomic
def assistant_file_add(
    *, principal: Principal, assistant_id: UUID, attachment_id: UUID
) -> Attachment:
    """Make an upload of the caller's, that nothing uses yet, a file of the assistant.

    Raises:
        NotFound: the upload; NotFound, PermissionDenied: see `assistant_edited`.
        Conflict: the assistant has as many files as it may have. InvalidRequest: an image.
    """
    assistant = assistant_edited(principal, assistant_id)
    attachment = _usable_upload(principal, assistant, attachment_id)
    attachment.assistant = assistant
    attachment.save(update_fields=["assistant"])
    _record(principal, assistant, file_added=attachment.pk)
    return attachment


@transaction.atomic
def project_file_remove(*, principal: Principal, project_id: UUID, attachment_id: UUID) -> None:
    """No answer reads it from now on. Raises NotFound: the file; and as `project_managed`."""
    project = project_managed(principal, project_id)
    if not project.files.filter(pk=attachment_id).update(project=None):
        raise NotFound(f"There is no file {attachment_id} here.", param="attachment_id")
    _record(principal, project, file_removed=attachment_id)


@transaction.atomic
def assistant_file_remove(*, principal: Principal, assistant_id: UUID, attachment_id: UUID) -> None:
    """No answer reads it from now on. Raises NotFound: the file; and as `assistant_edited`."""
    assistant = assistant_edited(principal, assistant_id)
    if not assistant.files.filter(pk=attachment_id).update(assistant=None):
        raise NotFound(f"There is no file {attachment_id} here.", param="attachment_id")
    _record(principal, assistant, file_removed=attachment_id)


def files_read_in(conversation: Conversation) -> list[Attachment]:
    """What the next answer reads beside the chat's own files, in the order of their uploads."""
    return _usable(conversation, {conversation.project_id}, {conversation.assistant_id})


def files_noted(conversation: Conversation, sent: Mapping[str, Any]) -> dict[UUID, Attachment]:
    """Which files an answer was given, by what is noted of it: those that are still there, and
    that the chat's person may still use."""
    ids = sent.get("shared", [])
    if not ids:
        return {}
    found = Attachment.objects.filter(pk__in=ids, organization_id=conversation.organization_id)
    places = list(found.values_list("project_id", "assistant_id"))
    usable = _usable(conversation, {one for one, _ in places}, {one for _, one in places})
    return {one.pk: one for one in usable if str(one.pk) in ids}


def shared_parts(files: Iterable[Attachment], searched: Collection[UUID]) -> list[Part]:
    """Those that are read whole, as files of a message are."""
    whole = {one.pk: one for one in files if one.pk not in searched}
    parts = [{"type": "file", "attachment_id": str(one)} for one in whole]
    read = parts_for_model(parts, whole)
    return read if isinstance(read, list) else []


def with_shared(history: Sequence[ChatMessage], parts: Sequence[Part]) -> list[ChatMessage]:
    """`history` with the files in its first prompt: there they stay the same from turn to turn."""
    at = next((n for n, one in enumerate(history) if one.role == MessageRole.USER), None)
    if not parts or at is None:
        return list(history)
    first = history[at]
    read = ChatMessage(first.role, [*parts, *first.parts], first.name)
    return [*history[:at], read, *history[at + 1 :]]


def _usable_upload(
    principal: Principal, place: Project | Assistant, attachment_id: UUID
) -> Attachment:
    """The caller's upload, locked and with passages."""
    if place.files.count() >= MAX_FILES:
        raise Conflict(f"There are at most {MAX_FILES} files.", code="too_many_files")
    attachment = (
        Attachment.objects.select_for_update(no_key=True)
        .filter(
            pk=attachment_id,
            organization_id=principal.organization_id,
            user_id=principal.user_id,
            conversation=None,
            project=None,
            assistant=None,
        )
        .first()
    )
    if attachment is None:
        raise NotFound(f"There is no attachment {attachment_id}.", param="attachment_id")
    if attachment.kind == AttachmentKind.IMAGE:
        raise InvalidRequest(
            "Only documents and text; an image is attached to a message.",
            param="attachment_id",
            code="unsupported_file",
        )
    passages_ensure(attachment)
    return attachment


def _usable(
    conversation: Conversation, projects: set[UUID | None], assistants: set[UUID | None]
) -> list[Attachment]:
    """Files of those projects and assistants that the chat's person may use now."""
    who = {"organization_id": conversation.organization_id, "user_id": conversation.user_id}
    used: list[Project | Assistant | None] = [
        project_used_by(**who, project_id=one) for one in projects if one is not None
    ]
    used += [assistant_seen_by(**who, assistant_id=one) for one in assistants if one is not None]
    return _in_order(file for one in used if one is not None for file in one.files.all())


def _in_order(files: Iterable[Attachment]) -> list[Attachment]:
    return sorted(files, key=lambda one: (one.created_at, one.pk))


def _record(principal: Principal, place: Project | Assistant, **files: UUID) -> None:
    """Ids only: a file's name is content."""
    is_project = isinstance(place, Project)
    record(
        Action.PROJECT_UPDATED if is_project else Action.ASSISTANT_UPDATED,
        organization_id=place.organization_id,
        actor=principal,
        target=("project" if is_project else "assistant", place.pk),
        project_id=place.pk if is_project else None,
        details={name: str(pk) for name, pk in files.items()},
    )
