"""Signing in and up, and who one is."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.api.schemas.base import RequestModel, ResponseModel

Email = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class LoginRequest(RequestModel):
    email: Email
    password: Password


class SignupRequest(LoginRequest):
    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""


class MeUpdate(RequestModel):
    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] | None = None
    organization_id: UUID | None = Field(
        default=None, strict=False, description="The organization to work in from now on."
    )


class UserOut(ResponseModel):
    id: UUID
    email: str
    name: str


class OrganizationOut(ResponseModel):
    id: UUID
    name: str
    plan: str


class MembershipOut(OrganizationOut):
    role: str


class Me(ResponseModel):
    user: UserOut
    organization: OrganizationOut
    role: str
    organizations: list[MembershipOut]
