"""SAML single logout, as a provider asks for it: a signed request by redirect.

It ends the sessions that the provider began, in every browser. Signing out here does not sign
out at the provider. A request without a signature of the provider's certificate is refused, though
SAML allows it: anybody could sign anybody out.
Source: SAML 2.0 Profiles, section 4.4 (Single Logout); Bindings, section 3.4.4.1 (signatures).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request

from backend.accounts.models import User
from backend.enterprise.errors import sso_refused
from backend.enterprise.models import Connection, Identity
from backend.enterprise.saml import MALFORMED, logout_url, request_at, saml_settings, use_once
from backend.platform.errors import NotFound

MAX_REQUEST_CHARACTERS = 8_000
_GOOD_FOR_S = 3_600


@dataclass(frozen=True, slots=True)
class Logout:
    """A checked request. `user`: None where nobody has signed in as its subject; `answer_url`:
    where the browser takes our answer."""

    user: User | None
    answer_url: str


def logout_of_request(connection: Connection, query: Mapping[str, str]) -> Logout:
    """Who the provider says is to be signed out.

    Raises:
        NotFound: single logout is not set up.
        PermissionDenied: unsigned, signed by another, changed, expired, for another address, of
            another provider, or used before.
    """
    if not connection.saml.slo_url:
        raise NotFound("This identity provider has no single logout here.", code="sso_unknown")
    if sum(map(len, query.values())) > MAX_REQUEST_CHARACTERS:
        raise sso_refused("The identity provider's request is too long.")
    wanted = ("SAMLRequest", "RelayState", "SigAlg", "Signature")
    request = request_at(logout_url(connection))
    request["get_data"] = {name: query[name] for name in wanted if name in query}
    found = saml_settings(connection)
    found["security"] = {**found["security"], "wantMessagesSigned": True}
    auth = OneLogin_Saml2_Auth(request, found)
    try:
        answer_url = auth.process_slo(keep_local_session=True)
        if auth.get_errors() or not answer_url:
            why = auth.get_last_error_reason() or "not a logout request"
            raise sso_refused(f"The identity provider's request was refused: {str(why)[:200]}.")
        subject = OneLogin_Saml2_Logout_Request.get_nameid(auth.get_last_request_xml())
    except MALFORMED as error:
        raise sso_refused("The identity provider's request is malformed.") from error
    use_once(connection, str(auth.get_last_message_id()), until=int(time.time()) + _GOOD_FOR_S)
    identity = Identity.objects.filter(connection=connection, subject=str(subject)[:300])
    known = identity.select_related("user").first()
    return Logout(known.user if known else None, str(answer_url))
