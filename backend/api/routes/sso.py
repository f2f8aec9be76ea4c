"""`/api/auth/sso`: sign in through the organization's identity provider.

What a browser is led to answers with a redirect; a sign-in that fails ends on the sign-in page.
"""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Form, Router
from pydantic import Field

from backend.api import sso, throttling
from backend.api.authentication import AnonymousWithCsrf
from backend.api.schemas.enterprise import SSOStart, SSOStarted
from backend.enterprise import saml
from backend.enterprise.connections import connection_by_id, connection_for
from backend.enterprise.models import Protocol
from backend.enterprise.saml_settings import metadata_xml
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest, NotFound, PermissionDenied

router = Router(tags=["account"])

MAX_LOGOUT_TOKEN = 12_000


@router.post("", auth=AnonymousWithCsrf(), response=SSOStarted)
async def start_sso(request: HttpRequest, body: SSOStart) -> SSOStarted:
    """Where the browser goes. 404 where no organization has verified the address's domain."""
    await throttling.count_sso_start(request)
    if body.connection_id is not None:
        connection = await in_database(connection_by_id, body.connection_id)
    elif body.email:
        connection = await in_database(connection_for, email=body.email)
    else:
        raise InvalidRequest("Give email or connection_id.", param="email")
    url = await sso.begin(request, connection, email=body.email, next_page=body.next)
    return SSOStarted(url=url)


@router.get("/oidc/callback", auth=None, response={302: None})
async def oidc_callback(request: HttpRequest) -> HttpResponse:
    """Where an OIDC provider sends the browser back to."""
    await throttling.count_sso_answer(request)
    return await sso.finish_oidc(request)


@router.get("/saml/finish", auth=None, response={302: None})
async def saml_finish(request: HttpRequest) -> HttpResponse:
    """Where `acs` sends the browser on to."""
    await throttling.count_sso_answer(request)
    return await sso.finish_saml(request)


@router.get("/{uuid:connection_id}/start", auth=None, response={302: None})
async def start_by_provider(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """Where a tile of the provider's portal leads, if the organization allows that."""
    await throttling.count_sso_start(request)
    connection = await in_database(connection_by_id, connection_id)
    return await sso.start(request, connection)


@router.get("/saml/{uuid:connection_id}/logout", auth=None, response={302: None})
async def saml_logout(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """Single logout, as the provider asks for it: a signed request by redirect."""
    return await _saml_logout(request, connection_id)


@router.post("/saml/{uuid:connection_id}/logout", auth=None, response={302: None})
async def saml_logout_posted(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """The same by POST, with the signature in the message."""
    return await _saml_logout(request, connection_id)


async def _saml_logout(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    await throttling.count_sso_answer(request)
    connection = await in_database(connection_by_id, connection_id)
    _require_saml(connection.protocol)
    return await sso.logout_by_provider(request, connection)


@router.post("/saml/{uuid:connection_id}/acs", auth=None, response={302: None})
async def saml_acs(
    request: HttpRequest,
    connection_id: UUID,
    SAMLResponse: Form[Annotated[str, Field(max_length=saml.MAX_RESPONSE_CHARACTERS)]],
) -> HttpResponse:
    """Where a SAML provider's page posts its answer."""
    await throttling.count_sso_answer(request)
    connection = await in_database(connection_by_id, connection_id)
    _require_saml(connection.protocol)
    return await sso.receive_saml(request, connection, SAMLResponse)


@router.get("/saml/{uuid:connection_id}/metadata", auth=None, response={200: None})
async def saml_metadata(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """This installation's SAML metadata, for the provider's administrator; the same before the
    connection is saved."""
    await throttling.count_sso_start(request)
    found = await in_database(metadata_xml, connection_id)
    return HttpResponse(found, content_type="application/samlmetadata+xml")


@router.post("/oidc/{uuid:connection_id}/backchannel-logout", auth=None, response={200: None})
async def oidc_backchannel_logout(
    request: HttpRequest,
    connection_id: UUID,
    logout_token: Form[Annotated[str, Field(max_length=MAX_LOGOUT_TOKEN)]],
) -> HttpResponse:
    """An OIDC provider tells that a person has signed out there: their sessions end here."""
    await throttling.count_sso_answer(request)
    connection = await in_database(connection_by_id, connection_id)
    if connection.protocol != Protocol.OIDC:
        raise NotFound("There is no such identity provider.", code="sso_unknown")
    try:
        await sso.backchannel_logout(connection, logout_token)
    except PermissionDenied as error:  # the specification asks for 400
        raise InvalidRequest(error.message, param="logout_token", code=error.code) from error
    await throttling.forgive_sso_answer(request)
    return HttpResponse(headers={"Cache-Control": "no-store"})


def _require_saml(protocol: str) -> None:
    if protocol != Protocol.SAML:
        raise NotFound("There is no such identity provider.", code="sso_unknown")
