"""Single sign-on, the directory, allowed networks."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.api.schemas.base import RequestModel, ResponseModel
from backend.enterprise.saml_metadata import MAX_CHARACTERS

_Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


class SSOStart(RequestModel):
    """By the address of who signs in, or by the provider (a bookmark)."""

    email: Annotated[str, StringConstraints(strip_whitespace=True, max_length=254)] = ""
    connection_id: Annotated[UUID, Field(strict=False)] | None = None
    next: Annotated[str, StringConstraints(max_length=500, pattern=r"^(/([^/\\].*)?)?$")] = Field(
        "", description="A path of this site, where the sign-in leads in the end."
    )


class SSOStarted(ResponseModel):
    url: str = Field(description="Where the browser goes.")


class SSOUpdate(RequestModel):
    protocol: Literal["oidc", "saml"]
    issuer: _Text = Field(description="OIDC: the issuer. SAML: the provider's entity id.")
    default_role: Literal["member", "finance", "viewer"] = "member"
    is_enabled: bool = True
    is_forced: bool = Field(
        False, description="Members who are no owners cannot sign in with a password."
    )
    client_id: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)] = ""
    client_secret: Annotated[str, StringConstraints(max_length=1000)] | None = Field(
        None, description="Left out: the stored one."
    )
    sso_url: _Text = ""
    groups_claim: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)
    ] = Field("groups", description="The claim, or SAML attribute, that names groups.")
    allows_idp_initiated: bool = Field(
        False, description="What the provider starts by itself begins a sign-in here."
    )
    email_claim: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = Field(
        "", description="The claim, or SAML attribute, with the address; empty: the usual names."
    )
    takes_unstated_email: bool = Field(
        False, description="OIDC: an address without email_verified counts as verified (Entra)."
    )
    returns_after_logout: bool = Field(
        False, description="OIDC: the provider knows logged_out_url as a place to return to."
    )
    slo_url: _Text = Field("", description="SAML: single logout at the provider; empty: none.")
    certificates: Annotated[str, StringConstraints(max_length=20_000)] = Field(
        "", description="PEM, up to five."
    )


class MetadataBody(RequestModel):
    metadata: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CHARACTERS)
    ] = Field(description="SAML metadata of the provider: XML, or its https address.")


class MetadataOut(ResponseModel):
    """For the form; nothing is saved."""

    issuer: str
    sso_url: str
    slo_url: str
    certificates: str


class GroupRuleBody(RequestModel):
    """A group's role in the organization, or its place in one project."""

    group: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    role: Literal["owner", "admin", "member", "finance", "viewer"] | None = None
    project_id: Annotated[UUID, Field(strict=False)] | None = None
    project_role: Literal["owner", "member"] | None = None


class GroupRulesUpdate(RequestModel):
    rules: list[GroupRuleBody] = Field(max_length=200)


class GroupRuleOut(ResponseModel):
    group: str
    role: str | None
    project_id: UUID | None
    project_role: str | None


class GroupRulesOut(ResponseModel):
    rules: list[GroupRuleOut]
    known_groups: list[str] = Field(description="Names that the directory (SCIM) has sent.")


class SSOOut(ResponseModel):
    """`client_secret` is never shown."""

    id: UUID
    protocol: Literal["oidc", "saml"]
    issuer: str
    default_role: str
    is_enabled: bool
    is_forced: bool
    client_id: str
    sso_url: str
    certificates: str
    groups_claim: str
    email_claim: str
    takes_unstated_email: bool
    returns_after_logout: bool
    allows_idp_initiated: bool
    slo_url: str
    changed_at: datetime


class SSOPageOut(ResponseModel):
    """What the provider's administrator needs from here, and the connection, if there is one."""

    connection: SSOOut | None
    redirect_uri: str
    logged_out_url: str = Field(description="OIDC: where the provider sends browsers back to.")
    backchannel_logout_url: str
    entity_id: str = Field(description="SAML; this installation's metadata is there.")
    acs_url: str
    logout_url: str
    start_url: str
    verified_domains: list[str]


class DirectoryOut(ResponseModel):
    url: str
    has_token: bool
    created_at: datetime | None
    last_used_at: datetime | None
    users: int
    groups: int


class NewDirectoryTokenOut(ResponseModel):
    token: str = Field(description="Shown this once.")
    url: str


class NetworkBody(RequestModel):
    cidr: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=43)]
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    for_directory: bool = Field(
        False, description="Lets only the directory's calls (SCIM) in, and no people."
    )


class NetworksUpdate(RequestModel):
    networks: list[NetworkBody] = Field(max_length=200, description="Empty: from anywhere.")
    confirm_lockout: bool = Field(
        False, description="Yes to a list without the address that this request comes from."
    )


class NetworkOut(ResponseModel):
    cidr: str
    note: str
    for_directory: bool


class SignInPolicyUpdate(RequestModel):
    requires_second_factor: bool = Field(
        description="Who signs in with a password needs an authenticator app or a passkey."
    )


class SignInPolicyOut(ResponseModel):
    requires_second_factor: bool
    members_without: int = Field(description="Active members who have no second factor now.")


class NetworksOut(ResponseModel):
    networks: list[NetworkOut]
    your_address: str
