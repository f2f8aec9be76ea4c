"""SAML single logout, begun by the provider or here.

The provider's signed request, by redirect or by POST, ends the sessions that the provider began, in
every browser. A request without a signature of the provider's certificate is refused, though SAML
allows it: anybody could sign anybody out. Signing out here goes on to the provider.
Source: SAML 2.0 Profiles, section 4.4 (Single Logout); Bindings, section 3.4.4.1 (signatures).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request as LogoutRequest
from onelogin.saml2.logout_response import OneLogin_Saml2_Logout_Response as LogoutResponse
from onelogin.saml2.utils import OneLogin_Saml2_Utils as Utils
from onelogin.saml2.xml_utils import OneLogin_Saml2_XML as XML

from backend.accounts.models import User
from backend.enterprise.errors import sso_refused
from backend.enterprise.models import Connection, Identity
from backend.enterprise.saml import MALFORMED, Session, use_once
from backend.enterprise.saml_settings import (
    logout_url,
    request_at,
    saml_settings,
)
from backend.platform.errors import NotFound

MAX_REQUEST_CHARACTERS = 8_000
MAX_POSTED_CHARACTERS = 12_000
_GOOD_FOR_S = 3_600
_SIGNATURE = "/samlp:LogoutRequest/ds:Signature"
_SIGNED_BY = (Constants.RSA_SHA256, Constants.RSA_SHA384, Constants.RSA_SHA512)


@dataclass(frozen=True, slots=True)
class Logout:
    """A checked request. `user`: None where nobody has signed in as its subject; `answer_url`:
    where the browser takes our answer."""

    user: User | None
    answer_url: str


def logout_at_provider_url(connection: Connection, session: Session) -> str:
    """The address that ends the provider's session too; empty without single logout."""
    if not connection.saml.slo_url:
        return ""
    request = request_at(logout_url(connection.pk))
    auth = OneLogin_Saml2_Auth(request, saml_settings(connection, is_signing=True))
    return str(
        auth.logout(
            return_to=logout_url(connection.pk),
            name_id=session.name_id,
            session_index=session.session_index or None,
            nq=session.name_qualifier or None,
            name_id_format=session.name_id_format or None,
            spnq=session.service_qualifier or None,
        )
    )


def logout_of_request(connection: Connection, query: Mapping[str, str]) -> Logout:
    """Check a request by redirect to sign a person out.

    Raises:
        NotFound: single logout is not set up.
        PermissionDenied: unsigned, signed by another, changed, expired, for another address, of
            another provider, or used before.
    """
    _require_logout(connection)
    if sum(map(len, query.values())) > MAX_REQUEST_CHARACTERS:
        raise sso_refused("The identity provider's request is too long.")
    wanted = ("SAMLRequest", "RelayState", "SigAlg", "Signature")
    request = request_at(logout_url(connection.pk))
    request["get_data"] = {name: query[name] for name in wanted if name in query}
    found = saml_settings(connection, is_signing=True)
    found["security"] = {**found["security"], "wantMessagesSigned": True}
    auth = OneLogin_Saml2_Auth(request, found)
    try:
        answer_url = auth.process_slo(keep_local_session=True)
        if auth.get_errors() or not answer_url:
            raise _refused(auth.get_last_error_reason())
        subject = LogoutRequest.get_nameid(auth.get_last_request_xml())
    except MALFORMED as error:
        raise sso_refused("The identity provider's request is malformed.") from error
    return _used(connection, str(auth.get_last_message_id()), str(subject), str(answer_url))


def logout_of_post(connection: Connection, posted: str, relay_state: str) -> Logout:
    """Check one by POST, as `logout_of_request` does: the signature stands in the message."""
    _require_logout(connection)
    if len(posted) > MAX_POSTED_CHARACTERS or len(relay_state) > MAX_REQUEST_CHARACTERS:
        raise sso_refused("The identity provider's request is too long.")
    auth = OneLogin_Saml2_Auth(
        request_at(logout_url(connection.pk)), saml_settings(connection, is_signing=True)
    )
    try:
        request = LogoutRequest(auth.get_settings(), posted)
        xml = request.get_xml()
        certificates = auth.get_settings().get_idp_data()["x509certMulti"]["signing"]
        if not _is_signed(xml, certificates):
            raise _refused("its signature is missing or wrong")
        if not request.is_valid(request_at(logout_url(connection.pk))):
            raise _refused(request.get_error())
        subject = LogoutRequest.get_nameid(xml)
        answer = LogoutResponse(auth.get_settings())
        answer.build(request.id)
    except MALFORMED as error:
        raise sso_refused("The identity provider's request is malformed.") from error
    parameters = {"SAMLResponse": answer.get_response()}
    if relay_state:
        parameters["RelayState"] = relay_state
    auth.add_response_signature(parameters)
    answer_url = auth.redirect_to(connection.saml.slo_url, parameters)
    return _used(connection, str(request.id), str(subject), str(answer_url))


def _is_signed(xml: str, certificates: list[str]) -> bool:
    """Whether one of `certificates` signed the whole message: the one signature, right below the
    root, refers to the root by an id that nothing else has."""
    root = XML.to_etree(xml)
    references = XML.query(root, f"{_SIGNATURE}/ds:SignedInfo/ds:Reference")
    methods = XML.query(root, f"{_SIGNATURE}/ds:SignedInfo/ds:SignatureMethod")
    ids = [element.get("ID") for element in root.iter() if element.get("ID") is not None]
    return (
        len(XML.query(root, "//ds:Signature")) == 1
        and len(references) == 1
        and references[0].get("URI") == f"#{root.get('ID')}"
        and len(ids) == len(set(ids))
        and methods[0].get("Algorithm") in _SIGNED_BY
        and bool(Utils.validate_sign(root, multicerts=certificates, xpath=_SIGNATURE))
    )


def _require_logout(connection: Connection) -> None:
    if not connection.saml.slo_url:
        raise NotFound("This identity provider has no single logout here.", code="sso_unknown")


def _refused(why: object) -> Exception:
    said = str(why or "not a logout request")[:200]
    return sso_refused(f"The identity provider's request was refused: {said}.")


def _used(connection: Connection, message_id: str, subject: str, answer_url: str) -> Logout:
    use_once(connection, message_id, until=int(time.time()) + _GOOD_FOR_S)
    identity = Identity.objects.filter(connection=connection, subject=subject)
    known = identity.select_related("user").first()
    return Logout(known.user if known else None, answer_url)
