"""Domains of an organization: verified by DNS, and who has an address there may join.

A domain is verified by a TXT record that only its owner can publish, at
`_parley-challenge.DOMAIN`. One organization at a time has verified a domain. Who has a verified
address in it then joins at once, or asks and an owner or admin decides.
"""

import re
import secrets
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.utils import timezone

from backend.accounts.addresses import address_is_verified
from backend.accounts.dns_txt import DnsUnavailable, txt_records
from backend.accounts.members import member_join
from backend.accounts.models import JoinRequest, Membership, OrganizationDomain, Role, User
from backend.accounts.principal import Principal
from backend.accounts.roles import require_manager
from backend.accounts.team_models import DomainJoin
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.errors import Conflict, InvalidRequest, NotFound, Overloaded, ParleyError

CHALLENGE = "_parley-challenge"
MAX_DOMAINS = 50
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{4,253}}$)({_LABEL}\.)+[a-z][a-z0-9-]{{0,61}}[a-z0-9]")

log = structlog.get_logger(__name__)


def record_name(domain: OrganizationDomain) -> str:
    return f"{CHALLENGE}.{domain.domain}"


def record_value(domain: OrganizationDomain) -> str:
    return f"parley-verification={domain.token}"


@transaction.atomic
def domain_add(*, principal: Principal, domain: str, join: str) -> OrganizationDomain:
    """Claim a domain; nothing follows from it before it is verified.

    Raises:
        PermissionDenied, InvalidRequest (`domain`, `join`), Conflict: it is claimed here already.
    """
    require_manager(principal)
    domain = domain.strip().lower().removeprefix("@").rstrip(".")
    if not _DOMAIN.fullmatch(domain):
        raise InvalidRequest(f"{domain[:100]!r} is not a domain.", param="domain")
    known = OrganizationDomain.objects.filter(organization_id=principal.organization_id)
    if known.count() >= MAX_DOMAINS:
        raise Conflict(f"An organization has at most {MAX_DOMAINS} domains.")
    try:
        with transaction.atomic():
            added = OrganizationDomain.objects.create(
                organization_id=principal.organization_id,
                domain=domain,
                token=secrets.token_urlsafe(24),
                join=_clean_join(join),
            )
    except IntegrityError as error:
        raise Conflict(f"{domain} is in the list already.", param="domain") from error
    _record(Action.DOMAIN_ADDED, principal, added)
    return added


def domain_verify(*, principal: Principal, domain_id: UUID) -> OrganizationDomain:
    """Ask DNS for the record. Not in a transaction: the network takes its time.

    Raises:
        NotFound. InvalidRequest: the record is not there (`record_missing`).
        Conflict: another organization has verified the domain.
        Overloaded: DNS does not answer.
    """
    require_manager(principal)
    domain = _domain(principal, domain_id)
    if domain.verified_at is not None:
        return domain
    try:
        found = txt_records(record_name(domain))
    except DnsUnavailable as error:
        log.warning("domain_not_looked_up", domain=domain.domain, error=str(error))
        raise Overloaded("DNS does not answer; try again in a minute.", retry_after=60) from error
    if record_value(domain) not in found:
        raise InvalidRequest(
            f"There is no TXT record {record_name(domain)} with the value {record_value(domain)}."
            " A new record can take an hour to be seen.",
            code="record_missing",
        )
    with transaction.atomic():
        try:
            with transaction.atomic():
                domain.verified_at = timezone.now()
                domain.save(update_fields=["verified_at"])
        except IntegrityError as error:
            raise Conflict(f"Another organization has verified {domain.domain}.") from error
        _record(Action.DOMAIN_VERIFIED, principal, domain)
    return domain


@transaction.atomic
def domain_join_set(*, principal: Principal, domain_id: UUID, join: str) -> OrganizationDomain:
    require_manager(principal)
    domain = _domain(principal, domain_id)
    domain.join = _clean_join(join)
    domain.save(update_fields=["join"])
    _record(Action.DOMAIN_ADDED, principal, domain)
    return domain


@transaction.atomic
def domain_delete(*, principal: Principal, domain_id: UUID) -> None:
    """Nobody joins by it any more; members stay."""
    require_manager(principal)
    domain = _domain(principal, domain_id)
    _record(Action.DOMAIN_DELETED, principal, domain)
    domain.delete()


def domain_joins_at_once(user: User) -> bool:
    """At sign-up: whether the new person is a member now, by the domain of their address."""
    domain = _of_address(user)
    if domain is None or domain.join != DomainJoin.AUTOMATIC:
        return False
    try:
        member_join(organization_id=domain.organization_id, user=user, role=Role.MEMBER)
    except ParleyError as error:  # no seat: they have an organization of their own instead
        log.info("domain_not_joined", domain=domain.domain, code=error.code)
        return False
    return True


def domain_offer(*, user_id: UUID) -> OrganizationDomain | None:
    """The domain by which a person could join an organization that they are not in."""
    user = User.objects.get(pk=user_id)
    domain = _of_address(user)
    if domain is None:
        return None
    is_member = Membership.objects.filter(organization_id=domain.organization_id, user=user)
    return None if is_member.exists() else domain


@transaction.atomic
def domain_join(*, user_id: UUID) -> Membership | None:
    """Join by one's address, or ask to; None: asked. Twice is fine.

    Raises:
        NotFound: no organization has verified the domain of the person's verified address, or
            they are in it. Conflict: there is no seat.
    """
    domain = domain_offer(user_id=user_id)
    if domain is None:
        raise NotFound("No organization takes members by your e-mail address.")
    user = User.objects.get(pk=user_id)
    if domain.join == DomainJoin.AUTOMATIC:
        return member_join(organization_id=domain.organization_id, user=user, role=Role.MEMBER)
    JoinRequest.objects.get_or_create(organization_id=domain.organization_id, user=user)
    return None


@transaction.atomic
def join_request_decide(*, principal: Principal, request_id: UUID, accept: bool) -> None:
    """Make who asked a member, or forget that they asked.

    Raises PermissionDenied, NotFound; Conflict: there is no seat.
    """
    require_manager(principal)
    asked = (
        JoinRequest.objects.select_for_update()
        .filter(organization_id=principal.organization_id, pk=request_id)
        .select_related("user")
        .first()
    )
    if asked is None:
        raise NotFound(f"There is no request {request_id}.")
    if accept:
        member_join(
            organization_id=principal.organization_id,
            user=asked.user,
            role=Role.MEMBER,
            actor=principal,
        )
    JoinRequest.objects.filter(pk=asked.pk).delete()


def _of_address(user: User) -> OrganizationDomain | None:
    if not address_is_verified(user):
        return None
    name = user.email.rpartition("@")[2].lower()
    verified = OrganizationDomain.objects.filter(domain=name, verified_at__isnull=False)
    return verified.filter(organization__suspended_at=None).select_related("organization").first()


def _domain(principal: Principal, domain_id: UUID) -> OrganizationDomain:
    domain = OrganizationDomain.objects.filter(
        organization_id=principal.organization_id, pk=domain_id
    ).first()
    if domain is None:
        raise NotFound(f"There is no domain {domain_id}.")
    return domain


def _clean_join(join: str) -> str:
    if join not in DomainJoin.values:
        raise InvalidRequest(f"join is one of {', '.join(DomainJoin.values)}.", param="join")
    return join


def _record(action: Action, principal: Principal, domain: OrganizationDomain) -> None:
    record(
        action,
        organization_id=principal.organization_id,
        actor=principal,
        target=("domain", domain.pk),
        details={"domain": domain.domain, "join": domain.join},
    )
