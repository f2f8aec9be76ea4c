"""OpenAI's administration objects, as its own client reads them.

Ids are ours. Of the five roles OpenAI knows two: `member` is called `reader` here, as there; the
others keep their names. Source: OpenAI API reference, "Administration".
"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from backend.accounts.models import APIKey, Invitation, Membership, Project
from backend.accounts.paging import Page
from backend.accounts.projects import MAX_RATE
from backend.accounts.team_models import ProjectMember, ServiceAccount
from backend.api.schemas.account import Email
from backend.api.schemas.base import Name, RequestModel, ResponseModel
from backend.api.schemas.teams import Id, ProjectPlaceIn, ProjectRoleName

OpenAIRole = Literal["owner", "reader", "admin", "member", "finance", "viewer"]
PerMinute = Annotated[int, Field(ge=1, le=MAX_RATE)]


class ListOut(ResponseModel):
    """A page; `last_id` is `after` of the following one."""

    object: Literal["list"] = "list"
    data: list[dict[str, Any]]
    first_id: str | None
    last_id: str | None
    has_more: bool


class UserUpdate(RequestModel):
    role: OpenAIRole


class InviteCreate(RequestModel):
    email: Email
    role: OpenAIRole
    projects: list[ProjectPlaceIn] = Field(default_factory=list, max_length=100)


class ProjectBody(RequestModel):
    name: Name


class ProjectUserCreate(RequestModel):
    user_id: Id
    role: ProjectRoleName


class ProjectUserUpdate(RequestModel):
    role: ProjectRoleName


class ServiceAccountBody(RequestModel):
    name: Name


class RateLimitUpdate(RequestModel):
    """What is left out stays as it is."""

    max_requests_per_1_minute: PerMinute | None = None
    max_tokens_per_1_minute: PerMinute | None = None


class AdminKeyCreate(RequestModel):
    name: Name
    expires_in_seconds: Annotated[int, Field(ge=60, le=10 * 366 * 86_400)] | None = None


def role_given(role: str) -> str:
    """Ours, of a request."""
    return "member" if role == "reader" else role


def role_shown(role: str) -> str:
    return "reader" if role == "member" else role


def list_of(rows: list[dict[str, Any]], *, has_more: bool) -> ListOut:
    return ListOut(
        data=rows,
        first_id=rows[0]["id"] if rows else None,
        last_id=rows[-1]["id"] if rows else None,
        has_more=has_more,
    )


def page_of(page: Page[Any], rows: list[dict[str, Any]]) -> ListOut:
    return list_of(rows, has_more=page.next_cursor is not None)


def deleted(kind: str, identity: UUID) -> dict[str, Any]:
    return {"object": f"organization.{kind}.deleted", "id": str(identity), "deleted": True}


def user_object(membership: Membership) -> dict[str, Any]:
    user = membership.user
    return {
        "object": "organization.user",
        "id": str(user.pk),
        "name": user.name,
        "email": user.email,
        "role": role_shown(membership.role),
        "added_at": _seconds(membership.created_at),
    }


def invite_object(invitation: Invitation) -> dict[str, Any]:
    status = invitation.status
    return {
        "object": "organization.invite",
        "id": str(invitation.pk),
        "email": invitation.email,
        "role": role_shown(invitation.role),
        # OpenAI has no word for those that were revoked: they open nothing any more.
        "status": "expired" if status == "revoked" else status,
        "projects": invitation.projects,
        "created_at": _seconds(invitation.created_at),
        "expires_at": _seconds(invitation.expires_at),
        "accepted_at": _seconds(invitation.accepted_at),
    }


def project_object(project: Project) -> dict[str, Any]:
    return {
        "object": "organization.project",
        "id": str(project.pk),
        "name": project.name,
        "created_at": _seconds(project.created_at),
        "archived_at": _seconds(project.archived_at),
        "status": "active" if project.archived_at is None else "archived",
    }


def project_user_object(place: ProjectMember) -> dict[str, Any]:
    user = place.membership.user
    return {
        "object": "organization.project.user",
        "id": str(user.pk),
        "name": user.name,
        "email": user.email,
        "role": place.role,
        "added_at": _seconds(place.created_at),
    }


def service_account_object(account: ServiceAccount) -> dict[str, Any]:
    return {
        "object": "organization.project.service_account",
        "id": str(account.pk),
        "name": account.name,
        "role": "member",
        "created_at": _seconds(account.created_at),
    }


def new_service_account_object(account: ServiceAccount, key: APIKey, secret: str) -> dict[str, Any]:
    return {
        **service_account_object(account),
        "api_key": {
            "object": "organization.project.service_account.api_key",
            "id": str(key.pk),
            "name": key.name,
            "value": secret,
            "created_at": _seconds(key.created_at),
            "expires_at": None,
        },
    }


def project_key_object(key: APIKey) -> dict[str, Any]:
    return {
        "object": "organization.project.api_key",
        "id": str(key.pk),
        "name": key.name,
        "redacted_value": f"{key.prefix}…",
        "created_at": _seconds(key.created_at),
        "last_used_at": _seconds(key.last_used_at),
        "expires_at": _seconds(key.expires_at),
        "owner_project_access": "active",
        "owner": _key_owner(key),
    }


def rate_limit_object(model: str, requests: int, tokens: int) -> dict[str, Any]:
    return {
        "object": "project.rate_limit",
        "id": f"rl-{model}",
        "model": model,
        "max_requests_per_1_minute": requests,
        "max_tokens_per_1_minute": tokens,
    }


def admin_key_object(key: APIKey, secret: str | None = None) -> dict[str, Any]:
    user = key.created_by
    shown = {
        "object": "organization.admin_api_key",
        "id": str(key.pk),
        "name": key.name,
        "redacted_value": f"{key.prefix}…",
        "created_at": _seconds(key.created_at),
        "last_used_at": _seconds(key.last_used_at),
        "expires_at": _seconds(key.expires_at),
        "owner": {
            "type": "user",
            "object": "organization.user",
            "id": str(user.pk),
            "name": user.name,
            "created_at": _seconds(user.date_joined),
            "role": "owner",
        },
    }
    return shown if secret is None else {**shown, "value": secret}


def _key_owner(key: APIKey) -> dict[str, Any]:
    user = key.created_by
    account = getattr(user, "service_account", None)
    if account is not None:
        shown = service_account_object(account)
        return {"type": "service_account", "service_account": shown}
    return {
        "type": "user",
        "user": {
            "object": "organization.project.user",
            "id": str(user.pk),
            "name": user.name,
            "email": user.email,
            "role": "member",
            "created_at": _seconds(user.date_joined),
        },
    }


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
