"""SAML 2.0: a request by redirect, a signed assertion by POST. python3-saml and xmlsec check it.

allauth's `saml` builds on the same library, and takes the site's address from the request; here it
is the setting. What only we can check: that the answer is of a sign-in of this browser (routes),
and that an assertion is used once.
Source: SAML 2.0 Profiles, section 4.1 (Web Browser SSO).
"""

import binascii
import time
from dataclasses import dataclass
from typing import Any

from cryptography.x509 import load_pem_x509_certificates
from django.conf import settings
from django.core.cache import cache
from lxml.etree import LxmlError
from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError

from backend.enterprise.errors import sso_refused
from backend.enterprise.identities import Claims, clean_groups
from backend.enterprise.models import Connection
from backend.enterprise.saml_settings import acs_url, request_at, saml_settings
from backend.platform.errors import InvalidRequest

MAX_RESPONSE_CHARACTERS = 500_000
_REPLAY_S = 24 * 3600
# Names under which providers send these, compared without their case; docs/sign-in.md lists them.
_EMAIL = (
    "email",
    "mail",
    "emailAddress",
    "user.email",
    "urn:oid:0.9.2342.19200300.100.1.3",
    "urn:oid:1.2.840.113549.1.9.1",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
    "urn:oid:1.3.6.1.4.1.5923.1.1.1.6",
    "eduPersonPrincipalName",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn",
)
_NAME = (
    "name",
    "displayName",
    "http://schemas.microsoft.com/identity/claims/displayname",
    "urn:oid:2.16.840.1.113730.3.1.241",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name",
)
_GIVEN_NAME = (
    "givenName",
    "firstName",
    "urn:oid:2.5.4.42",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname",
)
_FAMILY_NAME = (
    "surname",
    "lastName",
    "sn",
    "urn:oid:2.5.4.4",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname",
)
_GROUPS = (
    "memberOf",
    "urn:oid:1.3.6.1.4.1.5923.1.5.1.1",
    "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
    "http://schemas.xmlsoap.org/claims/Group",
)


@dataclass(frozen=True, slots=True)
class Assertion:
    """A checked answer.

    Attributes:
        request_id: of the sign-in that it answers; empty where the provider began by itself, which
            signs nobody in.
    """

    claims: Claims
    request_id: str
    session: "Session"


@dataclass(frozen=True, slots=True)
class Session:
    """Names of the provider's session, to end it there (saml_logout.py)."""

    name_id: str
    name_id_format: str
    name_qualifier: str
    service_qualifier: str
    session_index: str


def authorization_url(connection: Connection) -> tuple[str, str]:
    """Where the browser goes, and the id of the request, which the answer has to name."""
    sending = saml_settings(connection, is_signing=True)
    auth = OneLogin_Saml2_Auth(request_at(acs_url(connection.pk)), sending)
    url = auth.login(return_to=settings.PUBLIC_URL)
    return str(url), str(auth.get_last_request_id())


def assertion_of_response(connection: Connection, response: str) -> Assertion:
    """Who the provider says has signed in.

    Raises:
        PermissionDenied: unsigned, signed by another, changed, expired, for another service or
            installation, used before, or not an answer to a request.
    """
    if len(response) > MAX_RESPONSE_CHARACTERS:
        raise sso_refused("The identity provider's answer is too long.")
    request = {**request_at(acs_url(connection.pk)), "post_data": {"SAMLResponse": response}}
    auth = OneLogin_Saml2_Auth(request, saml_settings(connection))
    try:
        auth.process_response()
    except MALFORMED as error:
        if getattr(error, "code", None) == OneLogin_Saml2_Error.PRIVATE_KEY_NOT_FOUND:
            raise sso_refused(
                "The assertion is encrypted, which is not read here: switch encryption off at the"
                " identity provider.",
                code="sso_encrypted",
            ) from error
        raise sso_refused("The identity provider's answer is malformed.") from error
    if auth.get_errors() or not auth.is_authenticated():
        why = str(auth.get_last_error_reason() or "not signed in")
        if "SubjectConfirmation" in why or "Timing" in why or "expired" in why:
            why = f"{why.rstrip('.')} (is one of the clocks wrong?)"
        raise sso_refused(f"The identity provider's answer was refused: {str(why)[:200]}.")
    request_id = auth.get_last_response_in_response_to()
    if not request_id and not connection.allows_idp_initiated:
        raise sso_refused("Begin at this page's sign-in: the answer belongs to no request.")
    until = int(auth.get_last_assertion_not_on_or_after() or 0)
    use_once(connection, str(auth.get_last_assertion_id()), until=until)
    attributes = {name.lower(): values for name, values in auth.get_attributes().items()}
    subject = str(auth.get_nameid() or "")
    email_names = (connection.email_claim,) if connection.email_claim else _EMAIL
    email = _first(attributes, email_names)
    if not email and not connection.email_claim and "@" in subject:
        email = subject
    return Assertion(
        Claims(
            subject=subject,
            email=email,
            is_email_verified=True,  # SAML has no such claim; the domain is the organization's
            name=_first(attributes, _NAME) or _full_name(attributes),
            groups=_groups(attributes, connection.groups_claim),
            is_transient=auth.get_nameid_format() == Constants.NAMEID_TRANSIENT,
        ),
        str(request_id or ""),
        Session(
            name_id=subject,
            name_id_format=auth.get_nameid_format() or "",
            name_qualifier=auth.get_nameid_nq() or "",
            service_qualifier=auth.get_nameid_spnq() or "",
            session_index=auth.get_session_index() or "",
        ),
    )


def clean_certificates(text: str) -> str:
    """One or more certificates in PEM; the armour may be missing, as in metadata.

    Raises InvalidRequest.
    """
    if "-----BEGIN" not in text:
        body = "".join(text.split())
        text = f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"
    try:
        found = load_pem_x509_certificates(text.encode())
    except ValueError as error:
        raise InvalidRequest("This is no X.509 certificate.", param="certificates") from error
    if len(found) > 5:
        raise InvalidRequest("At most 5 certificates are kept.", param="certificates")
    return text


MALFORMED = (
    OneLogin_Saml2_Error,
    OneLogin_Saml2_ValidationError,
    LxmlError,
    binascii.Error,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
)


def use_once(connection: Connection, message_id: str, *, until: int) -> None:
    """Of every web process, until `until` (Unix time), when it has expired by itself.

    Raises PermissionDenied the second time."""
    lifetime = min(max(until - int(time.time()), 0) + 300, _REPLAY_S)
    key = f"sso:saml:{connection.pk}:{message_id}"
    if not cache.add(key, 1, lifetime):
        raise sso_refused("The identity provider's answer was used already.")


def _first(attributes: dict[str, list[Any]], names: tuple[str, ...]) -> str:
    found = (attributes[name.lower()][0] for name in names if attributes.get(name.lower()))
    return str(next(found, "") or "")


def _full_name(attributes: dict[str, list[Any]]) -> str:
    parts = (_first(attributes, names) for names in (_GIVEN_NAME, _FAMILY_NAME))
    return " ".join(part for part in parts if part)


def _groups(attributes: dict[str, list[Any]], name: str) -> tuple[str, ...]:
    names = (name, *_GROUPS) if name == "groups" else (name,)
    found = (attributes[one.lower()] for one in names if attributes.get(one.lower()))
    return clean_groups(next(found, []))
