"""An organization's identity provider, as its owners set it, and which one an address leads to.

Sign-in is forced only once a domain is verified, and by an owner with a second factor. Owners
keep their password: a provider that fails, or is configured wrongly, locks nobody out for good.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from backend.accounts.models import Membership, OrganizationDomain, Role, User
from backend.accounts.principal import Principal
from backend.accounts.second_factors import has_second_factor
from backend.audit.actions import Action
from backend.audit.services import record
from backend.enterprise.domain_accounts import domain_of
from backend.enterprise.gate import gate_forget
from backend.enterprise.models import Connection, Identity, OIDCSettings, Protocol, SAMLSettings
from backend.enterprise.outbound import url_check
from backend.enterprise.saml import clean_certificates
from backend.enterprise.saml_settings import connection_id_for
from backend.enterprise.secrets import secret_encrypt
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an owner sets. Of `client_secret`, None keeps the stored one."""

    protocol: str
    issuer: str
    default_role: str
    is_enabled: bool
    is_forced: bool
    client_id: str = ""
    client_secret: str | None = None
    sso_url: str = ""
    certificates: str = ""
    groups_claim: str = "groups"
    email_claim: str = ""
    allows_idp_initiated: bool = False
    slo_url: str = ""
    takes_unstated_email: bool = False
    returns_after_logout: bool = False


_OF_CONNECTION = (
    "protocol",
    "issuer",
    "default_role",
    "is_enabled",
    "is_forced",
    "groups_claim",
    "email_claim",
    "allows_idp_initiated",
)


def require_owner(principal: Principal) -> None:
    """PermissionDenied. Who sets a provider can become anybody in the organization."""
    if principal.role != Role.OWNER or principal.is_api_key:
        raise PermissionDenied("Only owners, signed in themselves, change sign-in and networks.")


def connection_get(*, principal: Principal) -> Connection | None:
    """Raises PermissionDenied."""
    require_owner(principal)
    return _rows().filter(organization_id=principal.organization_id).first()


def connection_by_id(connection_id: UUID) -> Connection:
    """Raises NotFound, also where it is switched off."""
    found = _rows().filter(pk=connection_id, is_enabled=True).first()
    if found is None or found.organization.suspended_at is not None:
        raise NotFound("There is no such identity provider.", code="sso_unknown")
    return found


def connection_for(*, email: str) -> Connection:
    """The provider of the organization that has verified the address's domain. Raises NotFound."""
    domain = OrganizationDomain.objects.filter(
        domain=domain_of(email), verified_at__isnull=False
    ).first()
    found = None
    if domain is not None:
        found = _rows().filter(organization_id=domain.organization_id, is_enabled=True).first()
    if found is None:
        raise NotFound(
            "No organization signs in people with this address.", param="email", code="sso_unknown"
        )
    return found


@transaction.atomic
def connection_set(*, principal: Principal, wanted: Wanted) -> Connection:
    """Make `wanted` the organization's identity provider.

    Another protocol, issuer or client is another provider, whose subjects mean other people: those
    of the earlier one are forgotten, and people are found by their addresses.

    Raises:
        PermissionDenied: no owner. InvalidRequest: names the field.
        Conflict: forced without a verified domain.
    """
    require_owner(principal)
    _check(principal, wanted)
    earlier = (
        Connection.objects.select_for_update()
        .filter(organization_id=principal.organization_id)
        .first()
    )
    connection = earlier or Connection(
        pk=connection_id_for(principal.organization_id), organization_id=principal.organization_id
    )
    if earlier is not None:
        _forget_another(earlier, wanted)
    for name in _OF_CONNECTION:
        setattr(connection, name, getattr(wanted, name))
    connection.save()
    _settings_save(connection, wanted)
    record(
        Action.SSO_UPDATED if earlier else Action.SSO_CREATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("sso", connection.pk),
        details={name: getattr(wanted, name) for name in _OF_CONNECTION},
    )
    gate_forget(principal.organization_id)
    return _rows().get(pk=connection.pk)


@transaction.atomic
def connection_delete(*, principal: Principal) -> None:
    """Raises PermissionDenied, NotFound."""
    require_owner(principal)
    found = Connection.objects.filter(organization_id=principal.organization_id).first()
    if found is None:
        raise NotFound("There is no identity provider.")
    record(
        Action.SSO_DELETED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("sso", found.pk),
    )
    found.delete()
    gate_forget(principal.organization_id)


@transaction.atomic
def identities_forget(*, principal: Principal, user_id: UUID | None = None) -> None:
    """Forget the provider's subjects, all or one person's: the next sign-in links by address.

    For an owner whose provider gives everybody other subjects, or one address to somebody else who
    is to have the earlier holder's account.

    Raises PermissionDenied.
    """
    require_owner(principal)
    rows = Identity.objects.filter(connection__organization_id=principal.organization_id)
    if user_id is not None:
        rows = rows.filter(user_id=user_id)
    forgotten, _ = rows.delete()
    record(
        Action.SSO_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("sso", principal.organization_id),
        details={"identities_forgotten": forgotten, "user": str(user_id or "")},
    )


def password_is_refused(*, user: User) -> bool:
    """Whether a password opens nothing for `user`: an organization that has verified the domain of
    their address forces its provider on them, and they belong to no other one."""
    domain = OrganizationDomain.objects.filter(
        domain=domain_of(user.email), verified_at__isnull=False
    ).first()
    if domain is None:
        return False
    forced = Connection.objects.filter(
        organization_id=domain.organization_id, is_enabled=True, is_forced=True
    )
    return forced.exists() and not _open_to_password(user.pk).exists()


def password_organization(*, user_id: UUID) -> UUID | None:
    """Where a session that a password began may work: the first organization that lets it in, of
    those that are served where there is one. None where all of them refuse it."""
    served_first = F("organization__suspended_at").asc(nulls_first=True)
    rows = _open_to_password(user_id).order_by(served_first, "created_at", "pk")
    return rows.values_list("organization_id", flat=True).first()


def _open_to_password(user_id: UUID) -> QuerySet[Membership]:
    """Places in organizations that force no provider on this person."""
    forced = Connection.objects.filter(
        organization_id=OuterRef("organization_id"), is_enabled=True, is_forced=True
    )
    return Membership.objects.filter(Q(role=Role.OWNER) | ~Exists(forced), user_id=user_id)


def _forget_another(earlier: Connection, wanted: Wanted) -> None:
    """Forget what belongs to the earlier provider, where `wanted` is another one."""
    is_same_issuer = (earlier.protocol, earlier.issuer) == (wanted.protocol, wanted.issuer)
    if not is_same_issuer:
        if wanted.protocol == Protocol.OIDC and not wanted.client_secret:
            raise InvalidRequest("Another provider has another secret.", param="client_secret")
        OIDCSettings.objects.filter(connection=earlier).delete()
        SAMLSettings.objects.filter(connection=earlier).delete()
    client = OIDCSettings.objects.filter(connection=earlier, client_id=wanted.client_id)
    is_same_client = earlier.protocol == Protocol.SAML or client.exists()
    if not (is_same_issuer and is_same_client):
        Identity.objects.filter(connection=earlier).delete()


def _check(principal: Principal, wanted: Wanted) -> None:
    if wanted.default_role in {Role.OWNER, Role.ADMIN} or wanted.default_role not in Role.values:
        raise InvalidRequest(
            "People join as member, finance or viewer; an owner promotes them.",
            param="default_role",
        )
    if wanted.protocol == Protocol.OIDC:
        url_check(wanted.issuer, param="issuer")
        if not wanted.client_id:
            raise InvalidRequest("client_id is missing.", param="client_id")
    else:
        url_check(wanted.sso_url, param="sso_url")
        if wanted.slo_url:
            url_check(wanted.slo_url, param="slo_url")
        if not wanted.issuer:
            raise InvalidRequest("issuer is the provider's entity id.", param="issuer")
    if wanted.is_forced and not has_second_factor(user_id=principal.user_id):
        raise Conflict(
            "Add a second factor to your own account first: you are who gets in when the provider"
            " fails.",
            param="is_forced",
            code="second_factor_needed",
        )
    verified = OrganizationDomain.objects.filter(
        organization_id=principal.organization_id, verified_at__isnull=False
    )
    if wanted.is_forced and not (wanted.is_enabled and verified.exists()):
        raise Conflict(
            "Verify a domain and enable sign-in first: nobody could get in.",
            param="is_forced",
            code="no_verified_domain",
        )


def _settings_save(connection: Connection, wanted: Wanted) -> None:
    if wanted.protocol == Protocol.SAML:
        SAMLSettings.objects.update_or_create(
            connection=connection,
            defaults={
                "sso_url": wanted.sso_url,
                "slo_url": wanted.slo_url,
                "certificates": clean_certificates(wanted.certificates),
            },
        )
        return
    fields: dict[str, Any] = {
        "client_id": wanted.client_id,
        "takes_unstated_email": wanted.takes_unstated_email,
        "returns_after_logout": wanted.returns_after_logout,
    }
    if wanted.client_secret:
        fields["encrypted_secret"] = secret_encrypt(
            wanted.client_secret,
            organization_id=connection.organization_id,
            connection_id=connection.pk,
        )
    elif not OIDCSettings.objects.filter(connection=connection).exists():
        raise InvalidRequest("client_secret is missing.", param="client_secret")
    OIDCSettings.objects.update_or_create(connection=connection, defaults=fields)


def _rows():  # type: ignore[no-untyped-def]
    return Connection.objects.select_related("organization", "oidc", "saml")
