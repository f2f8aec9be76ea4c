"""`/api/organization/domains` and `/join-requests`: who joins by their address."""

from uuid import UUID

from ninja import Router, Status

from backend.accounts.domains import (
    domain_add,
    domain_delete,
    domain_join_set,
    domain_verify,
    join_request_decide,
)
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.team_selectors import domains_page, join_requests_page
from backend.api import throttling
from backend.api.routes.organization import After, Limit
from backend.api.schemas.teams import (
    DomainAdd,
    DomainOut,
    DomainPageOut,
    DomainUpdate,
    JoinRequestOut,
    JoinRequestPageOut,
)
from backend.platform.database import in_database

router = Router(tags=["organization"])


@router.get("/domains", response=DomainPageOut)
async def list_domains(
    request: AuthenticatedRequest, cursor: After | None = None, limit: Limit = 50
) -> DomainPageOut:
    """The domains of the organization, with the TXT record that verifies each."""
    page = await in_database(domains_page, principal=request.auth, after=cursor, limit=limit)
    return DomainPageOut(
        data=[DomainOut.of(each) for each in page.items], next_cursor=page.next_cursor
    )


@router.post("/domains", response={201: DomainOut})
async def add_domain(request: AuthenticatedRequest, body: DomainAdd) -> Status:
    """Claim a domain. It counts once its TXT record is found."""
    domain = await in_database(
        domain_add, principal=request.auth, domain=body.domain, join=body.join
    )
    return Status(201, DomainOut.of(domain))


@router.patch("/domains/{uuid:domain_id}", response=DomainOut)
async def update_domain(
    request: AuthenticatedRequest, domain_id: UUID, body: DomainUpdate
) -> DomainOut:
    """How people join by it."""
    domain = await in_database(
        domain_join_set, principal=request.auth, domain_id=domain_id, join=body.join
    )
    return DomainOut.of(domain)


@router.post("/domains/{uuid:domain_id}/verify", response=DomainOut)
async def verify_domain(request: AuthenticatedRequest, domain_id: UUID) -> DomainOut:
    """Look for its TXT record now."""
    await throttling.count_change(request.auth.user_id)
    domain = await in_database(domain_verify, principal=request.auth, domain_id=domain_id)
    return DomainOut.of(domain)


@router.delete("/domains/{uuid:domain_id}", response={204: None})
async def delete_domain(request: AuthenticatedRequest, domain_id: UUID) -> Status:
    """No one joins by it any more; members stay."""
    await in_database(domain_delete, principal=request.auth, domain_id=domain_id)
    return Status(204, None)


@router.get("/join-requests", response=JoinRequestPageOut)
async def list_join_requests(
    request: AuthenticatedRequest, cursor: After | None = None, limit: Limit = 50
) -> JoinRequestPageOut:
    """Who asks to join, the first first."""
    page = await in_database(join_requests_page, principal=request.auth, after=cursor, limit=limit)
    return JoinRequestPageOut(
        data=[JoinRequestOut.of(each) for each in page.items], next_cursor=page.next_cursor
    )


@router.post("/join-requests/{uuid:join_request_id}/accept", response={204: None})
async def accept_join_request(request: AuthenticatedRequest, join_request_id: UUID) -> Status:
    """They are a member now."""
    await in_database(
        join_request_decide, principal=request.auth, request_id=join_request_id, accept=True
    )
    return Status(204, None)


@router.delete("/join-requests/{uuid:join_request_id}", response={204: None})
async def decline_join_request(request: AuthenticatedRequest, join_request_id: UUID) -> Status:
    """Forget the request; they are told nothing."""
    await in_database(
        join_request_decide, principal=request.auth, request_id=join_request_id, accept=False
    )
    return Status(204, None)
