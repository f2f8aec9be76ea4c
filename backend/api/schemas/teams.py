"""An organization's people, invitations and domains."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.accounts.domains import record_name, record_value
from backend.accounts.invitations import DEFAULT_DAYS, MAX_DAYS, MAX_USES
from backend.accounts.models import Invitation, JoinRequest, Membership, OrganizationDomain
from backend.api.schemas.account import Email, OrganizationOut
from backend.api.schemas.base import Name, RequestModel, ResponseModel

RoleName = Literal["owner", "admin", "member", "finance", "viewer"]
JoinName = Literal["request", "automatic"]
ProjectRoleName = Literal["owner", "member"]
Id = Annotated[UUID, Field(strict=False)]


class OfferOut(ResponseModel):
    """What an invitation's link offers. It does not say to whom it was sent."""

    organization: str
    role: str
    for_address: bool = Field(description="It is for the address that it was mailed to alone.")
    expires_at: datetime


class OrganizationDetailOut(OrganizationOut):
    seats: int | None = Field(description="Of the plan; null where it has any number.")
    seats_taken: int
    invited: int = Field(description="Open invitations to addresses.")


class OrganizationUpdate(RequestModel):
    name: Name


class MemberOut(ResponseModel):
    user_id: UUID
    name: str
    email: str
    role: str
    created_at: datetime

    @classmethod
    def of(cls, membership: Membership) -> "MemberOut":
        return cls(
            user_id=membership.user_id,
            name=membership.user.name,
            email=membership.user.email,
            role=membership.role,
            created_at=membership.created_at,
        )


class MemberPageOut(ResponseModel):
    data: list[MemberOut]
    next_cursor: str | None


class MemberUpdate(RequestModel):
    role: RoleName


class MemberRemove(RequestModel):
    """What becomes of what is theirs."""

    chats: Literal["keep", "hand_over", "delete"] = Field(
        description="keep: they stay theirs, and are read again by nobody else; hand_over: they"
        " are another member's; delete: final after 30 days."
    )
    chats_to: Id | None = Field(default=None, description="With hand_over: the other member.")
    keys: Literal["revoke", "service_account"] = Field(
        description="revoke: they stop working; service_account: one in each key's project holds"
        " them. Keys that administer the organization always stop."
    )


class OwnershipTransfer(RequestModel):
    user_id: Id


class ProjectPlaceIn(RequestModel):
    id: Id
    role: ProjectRoleName = "member"


class InvitationCreate(RequestModel):
    role: RoleName
    email: Email | None = Field(default=None, description="Without: a link to be handed on.")
    expires_in_days: int = Field(DEFAULT_DAYS, ge=1, le=MAX_DAYS)
    max_uses: int = Field(1, ge=1, le=MAX_USES, description="Of a link; 1 for an address.")
    projects: list[ProjectPlaceIn] = Field(default_factory=list, max_length=100)


class InvitationOut(ResponseModel):
    id: UUID
    email: str | None = Field(description="Null for a link.")
    role: str
    status: Literal["pending", "accepted", "expired", "revoked"]
    uses: int
    max_uses: int
    invited_by: str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None

    @classmethod
    def of(cls, invitation: Invitation) -> "InvitationOut":
        inviter = invitation.invited_by
        return cls.model_validate(
            {
                **{name: getattr(invitation, name) for name in _SAME},
                "email": invitation.email or None,
                "invited_by": inviter.get_full_name() if inviter else "",
            }
        )


_SAME = (
    "id",
    "role",
    "status",
    "uses",
    "max_uses",
    "created_at",
    "expires_at",
    "accepted_at",
)


class NewInvitationOut(InvitationOut):
    url: str | None = Field(description="Of a link, shown this once; a mailed one is in the mail.")


class InvitationPageOut(ResponseModel):
    data: list[InvitationOut]
    next_cursor: str | None


class DomainAdd(RequestModel):
    domain: Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254)]
    join: JoinName = "request"


class DomainUpdate(RequestModel):
    join: JoinName


class DomainOut(ResponseModel):
    id: UUID
    domain: str
    join: JoinName = Field(
        description="How people whose verified address is there join: by request, or at once."
    )
    record_name: str = Field(description="Where the TXT record has to be.")
    record_value: str = Field(description="What it has to say.")
    verified_at: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, domain: OrganizationDomain) -> "DomainOut":
        return cls.model_validate(
            {
                **{name: getattr(domain, name) for name in _SAME_OF_DOMAIN},
                "record_name": record_name(domain),
                "record_value": record_value(domain),
            }
        )


_SAME_OF_DOMAIN = ("id", "domain", "join", "verified_at", "created_at")


class DomainPageOut(ResponseModel):
    data: list[DomainOut]
    next_cursor: str | None


class JoinRequestOut(ResponseModel):
    id: UUID
    user_id: UUID
    name: str
    email: str
    created_at: datetime

    @classmethod
    def of(cls, asked: JoinRequest) -> "JoinRequestOut":
        return cls(
            id=asked.pk,
            user_id=asked.user_id,
            name=asked.user.name,
            email=asked.user.email,
            created_at=asked.created_at,
        )


class JoinRequestPageOut(ResponseModel):
    data: list[JoinRequestOut]
    next_cursor: str | None


class JoinOfferOut(ResponseModel):
    """By the domain of one's address; both null where no organization takes one by it."""

    organization: str | None
    join: JoinName | None
    asked: bool


class JoinedOut(ResponseModel):
    joined: bool = Field(description="False: an owner or admin decides.")
