"""Signing in and up, who one is, and what keeps the account safe."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.api.schemas.base import JsonObject, RequestModel, ResponseModel
from backend.api.schemas.operators import TermsOut

Email = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class LoginRequest(RequestModel):
    email: Email
    password: Password


class SignedOut(ResponseModel):
    url: str = Field(description="Where the browser signs out at its identity provider too.")


LinkToken = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class SignupRequest(LoginRequest):
    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    invitation: LinkToken | None = Field(
        default=None, description="The token of an invitation's link, which the account joins by."
    )


Code = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)]


class SentOut(ResponseModel):
    """The same for every address: the rest is in the mail."""

    status: Literal["mail_sent"] = "mail_sent"
    local_outbox: bool = Field(
        description="There is no mail server: the operator of the installation reads the mail."
    )


class SignupConfirm(RequestModel):
    token: LinkToken
    password: Password | None = Field(
        default=None, description="Needed in another browser than the one that signed up."
    )


class LinkConfirm(RequestModel):
    token: LinkToken


class AddressConfirm(LinkConfirm):
    password: Password | None = Field(
        default=None, description="The account's; needed in another browser than the asking one."
    )


class EmailBody(RequestModel):
    email: Email


class PasswordBody(RequestModel):
    password: Password


class Reauthentication(PasswordBody):
    code: Code | None = Field(
        default=None,
        description="Of the authenticator app, or a recovery code; needed where the account has a"
        " second factor.",
    )


class PasswordResetConfirm(PasswordBody):
    token: LinkToken
    revoke_keys: bool = Field(
        default=False,
        description="End the account's API keys too, as is done anyway where its address was never"
        " confirmed.",
    )


class CodeBody(RequestModel):
    code: Code


class SecondFactorNeeded(ResponseModel):
    """The password was right, and is not enough."""

    second_factor: list[Literal["totp", "webauthn", "recovery_codes"]]


class Credential(RequestModel):
    """What `navigator.credentials` gave, as JSON (WebAuthn level 3, `toJSON()`)."""

    credential: JsonObject


class PasskeyCreate(Credential):
    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""


class PasskeyOptions(ResponseModel):
    """What `navigator.credentials` takes, as JSON (WebAuthn level 3)."""

    options: dict[str, Any]


class PasskeyOut(ResponseModel):
    id: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


class SecurityOut(ResponseModel):
    """What keeps the account safe."""

    totp: bool
    recovery_codes: int = Field(description="How many are left.")
    passkeys: list[PasskeyOut]
    recent_sign_in: bool = Field(
        description="False: what changes the account's security asks for a proof again, by the"
        " password and the second factor where there is one."
    )


class TotpOut(ResponseModel):
    secret: str
    uri: str
    qr_svg: str


class RecoveryCodesOut(ResponseModel):
    recovery_codes: list[str] = Field(
        description="Shown this once; empty where there are earlier ones."
    )


class SessionOut(ResponseModel):
    id: int
    ip: str
    user_agent: str
    created_at: datetime
    last_seen_at: datetime
    current: bool


class SessionListOut(ResponseModel):
    data: list[SessionOut]


Language = Literal["en", "de", "fr", "es", "pt", "ja", "zh-CN", "ar"]


class MeUpdate(RequestModel):
    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] | None = None
    organization_id: UUID | None = Field(
        default=None, strict=False, description="The organization to work in from now on."
    )
    language: Language | Literal[""] | None = Field(
        default=None, description="Of the page and of mails; empty: as the browser says."
    )


class UserOut(ResponseModel):
    id: UUID
    email: str
    name: str
    language: str = Field(
        description="BCP 47, of the page and of mails; empty: the page as the browser says."
    )


class OrganizationOut(ResponseModel):
    id: UUID
    name: str
    plan: str
    suspended: str | None = Field(
        default=None, description="The reason while it is not served; null else."
    )


class MembershipOut(OrganizationOut):
    role: str


class Me(ResponseModel):
    user: UserOut
    organization: OrganizationOut
    role: str
    organizations: list[MembershipOut]
    pending_terms: list[TermsOut] = Field(
        description="What is to be accepted before anything else works."
    )
    second_factor_due: bool = Field(
        description="The organization is closed to them until they have a second factor."
    )
    support_contact: str = Field(
        description="Where the operator is reached: a `mailto:` or https URL; empty: not told."
    )
