"""Rows as SCIM resources. What the directory sent and has no meaning here is given back as sent."""

from typing import Any

import email_validator
from django.conf import settings
from scim2_models import (
    Context,
    EnterpriseUser,
    Group,
    GroupMember,
    GroupMembership,
    InvalidValueException,
    Meta,
    User,
)

from backend.enterprise.models import DirectoryGroup, DirectoryUser

BASE = "/api/scim/v2"
Person = User[EnterpriseUser]
# A directory may know people by addresses that no mail reaches from here (`.local`, `.test`): only
# the one that becomes the account's has to be of a verified domain.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
# What rows hold; the rest of a resource stands in `DirectoryUser.resource`. Passwords are dropped.
_OF_ROWS = {"id", "external_id", "meta", "groups", "user_name", "active", "password"}
MAX_EXTRA_CHARACTERS = 50_000


def user_resource(row: DirectoryUser) -> User:
    """With the groups; for many rows, prefetch them."""
    user: User = Person.model_validate(row.resource)
    user.id, user.external_id = str(row.pk), row.external_id or None
    user.user_name, user.active = row.user_name, row.is_active
    user.groups = [
        GroupMembership(
            value=str(group.pk), display=group.display_name, ref=_location("Groups", group)
        )
        for group in row.groups.all()
    ] or None
    user.meta = _meta("User", "Users", row)
    return user


def group_resource(row: DirectoryGroup) -> Group:
    """With the members; for many rows, prefetch them."""
    members = [
        GroupMember(value=str(one.pk), type="User", ref=_location("Users", one))
        for one in row.members.all()
    ]
    return Group(
        id=str(row.pk),
        external_id=row.external_id or None,
        display_name=row.display_name,
        members=members or None,
        meta=_meta("Group", "Groups", row),
    )


def extra_of(user: User) -> dict[str, Any]:
    """What is kept beside the row's own columns. Raises InvalidValueException."""
    kept = user.model_copy(update=dict.fromkeys(_OF_ROWS))
    found: dict[str, Any] = kept.model_dump(scim_ctx=Context.DEFAULT, mode="json")
    if len(str(found)) > MAX_EXTRA_CHARACTERS or "\\u0000" in str(found) or "\x00" in str(found):
        raise InvalidValueException(detail="The user is too large, or holds a NUL character.")
    return found


def email_of(user: User) -> str:
    """The primary address, else the first, else the userName."""
    emails = [one for one in user.emails or [] if one.value]
    chosen = next((one for one in emails if one.primary), emails[0] if emails else None)
    return str(chosen.value if chosen else user.user_name or "")


def name_of(user: User) -> str:
    if user.display_name:
        return str(user.display_name)
    if user.name is None:
        return ""
    parts = (user.name.given_name, user.name.family_name)
    return str(user.name.formatted or " ".join(part for part in parts if part))


def text_of(value: object, *, name: str, limit: int) -> str:
    """A short text. Raises InvalidValueException."""
    text = str(value or "")
    if len(text) > limit or "\x00" in text:
        raise InvalidValueException(detail=f"{name} is longer than {limit} characters.")
    return text


def _meta(kind: str, folder: str, row: DirectoryUser | DirectoryGroup) -> Meta:
    return Meta(
        resource_type=kind,
        created=row.created_at,
        last_modified=row.changed_at,
        location=_location(folder, row),
    )


def _location(folder: str, row: DirectoryUser | DirectoryGroup) -> str:
    return f"{settings.PUBLIC_URL}{BASE}/{folder}/{row.pk}"
