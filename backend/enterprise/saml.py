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
from urllib.parse import urlsplit

from cryptography.x509 import load_pem_x509_certificates
from django.conf import settings
from django.core.cache import cache
from lxml.etree import LxmlError
from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.settings import OneLogin_Saml2_Settings

from backend.enterprise.errors import sso_refused
from backend.enterprise.identities import Claims, clean_groups
from backend.enterprise.models import Connection
from backend.platform.errors import InvalidRequest

MAX_RESPONSE_CHARACTERS = 500_000
_REPLAY_S = 24 * 3600
_EMAIL = (
    "email",
    "mail",
    "urn:oid:0.9.2342.19200300.100.1.3",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
)
_NAME = (
    "name",
    "displayName",
    "urn:oid:2.16.840.1.113730.3.1.241",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name",
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


def entity_id(connection: Connection) -> str:
    """What this installation is called by the organization's provider."""
    return f"{settings.PUBLIC_URL}/api/auth/sso/saml/{connection.pk}/metadata"


def acs_url(connection: Connection) -> str:
    return f"{settings.PUBLIC_URL}/api/auth/sso/saml/{connection.pk}/acs"


def logout_url(connection: Connection) -> str:
    return f"{settings.PUBLIC_URL}/api/auth/sso/saml/{connection.pk}/logout"


def authorization_url(connection: Connection) -> tuple[str, str]:
    """Where the browser goes, and the id of the request, which the answer has to name."""
    auth = OneLogin_Saml2_Auth(request_at(acs_url(connection)), saml_settings(connection))
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
    request = {**request_at(acs_url(connection)), "post_data": {"SAMLResponse": response}}
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
        why = auth.get_last_error_reason() or "not signed in"
        raise sso_refused(f"The identity provider's answer was refused: {str(why)[:200]}.")
    request_id = auth.get_last_response_in_response_to()
    if not request_id and not connection.allows_idp_initiated:
        raise sso_refused("Begin at this page's sign-in: the answer belongs to no request.")
    until = int(auth.get_last_assertion_not_on_or_after() or 0)
    use_once(connection, str(auth.get_last_assertion_id()), until=until)
    attributes = auth.get_attributes()
    subject = str(auth.get_nameid() or "")
    email = _first(attributes, _EMAIL) or (subject if "@" in subject else "")
    return Assertion(
        Claims(
            subject=subject,
            email=email,
            is_email_verified=True,  # SAML has no such claim; the domain is the organization's
            name=_first(attributes, _NAME),
            groups=_groups(attributes, connection.groups_claim),
            is_transient=auth.get_nameid_format() == Constants.NAMEID_TRANSIENT,
        ),
        str(request_id or ""),
    )


def metadata_xml(connection: Connection) -> bytes:
    """This installation's metadata, for the provider's administrator."""
    found: Any = OneLogin_Saml2_Settings(saml_settings(connection), sp_validation_only=True)
    xml = found.get_sp_metadata()
    return xml if isinstance(xml, bytes) else str(xml).encode()


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
    found = (attributes[name][0] for name in names if attributes.get(name))
    return str(next(found, "") or "")


def _groups(attributes: dict[str, list[Any]], name: str) -> tuple[str, ...]:
    names = (name, *_GROUPS) if name == "groups" else (name,)
    return clean_groups(next((attributes[one] for one in names if attributes.get(one)), []))


def request_at(address: str) -> dict[str, Any]:
    """As the library reads it: our own address, whatever the request's Host says."""
    url = urlsplit(address)
    return {
        "https": "on" if url.scheme == "https" else "off",
        "http_host": url.netloc,
        "script_name": url.path,
        "get_data": {},
        "post_data": {},
    }


def saml_settings(connection: Connection) -> dict[str, Any]:
    """As the library takes them."""
    saml = connection.saml
    found = _sign_in_settings(connection)
    if saml.slo_url:
        for side, url in (("sp", logout_url(connection)), ("idp", saml.slo_url)):
            binding = Constants.BINDING_HTTP_REDIRECT
            found[side]["singleLogoutService"] = {"url": url, "binding": binding}
    return found


def _sign_in_settings(connection: Connection) -> dict[str, Any]:
    saml = connection.saml
    return {
        "strict": True,
        "sp": {
            "entityId": entity_id(connection),
            "assertionConsumerService": {
                "url": acs_url(connection),
                "binding": Constants.BINDING_HTTP_POST,
            },
            "NameIDFormat": Constants.NAMEID_UNSPECIFIED,
        },
        "idp": {
            "entityId": connection.issuer,
            "singleSignOnService": {
                "url": saml.sso_url,
                "binding": Constants.BINDING_HTTP_REDIRECT,
            },
            "x509certMulti": {"signing": _bodies(saml.certificates)},
        },
        "security": {
            "wantAssertionsSigned": True,
            "wantAttributeStatement": False,
            "requestedAuthnContext": False,
            "rejectDeprecatedAlgorithm": True,
            "allowRepeatAttributeName": True,
            "allowSingleLabelDomains": True,
        },
    }


def _bodies(pem: str) -> list[str]:
    parts = pem.split("-----END CERTIFICATE-----")
    bodies = ("".join(part.partition("-----BEGIN CERTIFICATE-----")[2].split()) for part in parts)
    return [body for body in bodies if body]
