"""`/api/me`: the signed-in user and the organization they work in."""

from django.contrib.auth import alogout
from ninja import Router, Status

from backend.accounts.domains import domain_join, domain_offer
from backend.accounts.invitations import invitation_accept
from backend.accounts.models import JoinRequest
from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.accounts.selectors import membership_get
from backend.accounts.services import user_language_set, user_rename
from backend.accounts.sessions import SSO_ORGANIZATION
from backend.accounts.terms import terms_accept
from backend.api import throttling
from backend.api.authentication import (
    SESSION_ORGANIZATION,
    SessionOnly,
    SessionOrKey,
    session_principal,
)
from backend.api.client_address import client_network
from backend.api.identity import me_of
from backend.api.schemas.account import LinkConfirm, Me, MeUpdate
from backend.api.schemas.operators import TermsAccept
from backend.api.schemas.teams import JoinedOut, JoinOfferOut
from backend.api.sign_in import may_act_elsewhere, may_change, require_own_session
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied
from backend.rights.requests import user_erase

router = Router(tags=["account"])


@router.get("", auth=SessionOrKey(gate=False), response=Me)
async def me(request: AuthenticatedRequest) -> Me:
    """401 when signed out."""
    return await _me(request, request.auth)


@router.patch("", auth=SessionOnly(gate=False), response=Me)
async def update_me(request: AuthenticatedRequest, body: MeUpdate) -> Me:
    """Change one's name or language, or the organization to work in."""
    user_id = request.auth.user_id
    if body.organization_id is not None:
        confined = await request.session.aget(SSO_ORGANIZATION)
        if confined and str(body.organization_id) != confined:
            raise PermissionDenied(
                "You signed in through one organization: sign in with your password for another.",
                code="sso_session",
            )
        await in_database(membership_get, user_id=user_id, organization_id=body.organization_id)
        await request.session.aset(SESSION_ORGANIZATION, str(body.organization_id))
    if body.name is not None:
        await may_act_elsewhere(request, user_id)
        await in_database(user_rename, user_id=user_id, name=body.name)
    if body.language is not None:
        await in_database(user_language_set, user_id=user_id, language=body.language)
    return await _me(request, await session_principal(request, gate=False))


@router.post("/terms", auth=SessionOnly(gate=False), response=Me)
async def accept_terms(request: AuthenticatedRequest, body: TermsAccept) -> Me:
    """Accept versions of the terms; recorded with time and address."""
    address = client_network(request)
    await in_database(
        terms_accept,
        user_id=request.auth.user_id,
        version_ids=body.versions,
        address=address.partition("/")[0] if address != "unknown" else None,
    )
    return await _me(request, request.auth)


@router.post("/invitations", auth=SessionOnly(gate=False), response=Me)
async def accept_invitation(request: AuthenticatedRequest, body: LinkConfirm) -> Me:
    """Join the organization of an invitation, and work in it from now on. Not in a session of an
    identity provider, which stays in its organization (`sso_session`)."""
    await throttling.count_link(request)
    await require_own_session(request)
    membership = await in_database(
        invitation_accept, token=body.token, user_id=request.auth.user_id
    )
    await request.session.aset(SESSION_ORGANIZATION, str(membership.organization_id))
    return await _me(request, await session_principal(request, gate=False))


@router.get("/join-offer", auth=SessionOnly(gate=False), response=JoinOfferOut)
async def get_join_offer(request: AuthenticatedRequest) -> JoinOfferOut:
    """Which organization takes one by the domain of one's verified address."""
    offer = await in_database(domain_offer, user_id=request.auth.user_id)
    if offer is None:
        return JoinOfferOut(organization=None, join=None, asked=False)
    asked = await in_database(
        JoinRequest.objects.filter(
            organization_id=offer.organization_id, user_id=request.auth.user_id
        ).exists
    )
    return JoinOfferOut.model_validate(
        {"organization": offer.organization.name, "join": offer.join, "asked": asked}
    )


@router.post("/join-offer", auth=SessionOnly(gate=False), response=JoinedOut)
async def take_join_offer(request: AuthenticatedRequest) -> JoinedOut:
    """Join by one's address, or ask to. Not in a session of an identity provider."""
    await require_own_session(request)
    membership = await in_database(domain_join, user_id=request.auth.user_id)
    if membership is None:
        return JoinedOut(joined=False)
    await request.session.aset(SESSION_ORGANIZATION, str(membership.organization_id))
    return JoinedOut(joined=True)


@router.delete("", auth=SessionOnly(gate=False), response={204: None})
async def delete_account(request: AuthenticatedRequest) -> Status:
    """Delete the account: locked out at once, everything that is theirs erased within minutes."""
    await may_change(request, request.auth.user_id)
    await in_database(user_erase, user_id=request.auth.user_id)
    await alogout(request)
    return Status(204, None)


async def _me(request: AuthenticatedRequest, principal: Principal) -> Me:
    return await me_of(principal, sso_organization=await request.session.aget(SSO_ORGANIZATION))
