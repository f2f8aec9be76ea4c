"""This installation as a SAML service: its addresses, its metadata, and what python3-saml is told.

The addresses hold the id of the connection, which is known before the first save and stays
(`connection_id_for`), so a provider that wants ours first is set up once. Requests are signed with
one key of the installation: some providers ask for it, the others ignore it.
"""

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.settings import OneLogin_Saml2_Settings

from backend.enterprise.models import Connection
from backend.enterprise.service_key import service_key


def connection_id_for(organization_id: UUID) -> UUID:
    """The id that an organization's first connection gets."""
    return organization_id


def entity_id(connection_id: UUID) -> str:
    """This installation's name for the organization's provider, and the address of its metadata."""
    return f"{settings.PUBLIC_URL}/api/auth/sso/saml/{connection_id}/metadata"


def acs_url(connection_id: UUID) -> str:
    return f"{settings.PUBLIC_URL}/api/auth/sso/saml/{connection_id}/acs"


def logout_url(connection_id: UUID) -> str:
    return f"{settings.PUBLIC_URL}/api/auth/sso/saml/{connection_id}/logout"


def metadata_xml(connection_id: UUID) -> bytes:
    """This installation's metadata, for the provider's administrator; there before a connection is
    saved. It does not expire: the provider may read it once."""
    found: Any = OneLogin_Saml2_Settings(
        {
            "strict": True,
            "sp": _service(connection_id, is_signing=True),
            "security": {
                **_SECURITY,
                "wantAssertionsSigned": True,  # asked for; a signed response is taken too
                "metadataValidUntil": "",
                "metadataCacheDuration": "",
            },
        },
        sp_validation_only=True,
    )
    xml = found.get_sp_metadata()
    return xml if isinstance(xml, bytes) else str(xml).encode()


def request_at(address: str) -> dict[str, Any]:
    """A request for the library, at our own address whatever the real one's Host says."""
    url = urlsplit(address)
    return {
        "https": "on" if url.scheme == "https" else "off",
        "http_host": url.netloc,
        "script_name": url.path,
        "get_data": {},
        "post_data": {},
    }


def saml_settings(connection: Connection, *, is_signing: bool = False) -> dict[str, Any]:
    """The library's settings.

    Args:
        is_signing: for what we send. What we read does without our key: it would decrypt, which no
            assertion needs.
    """
    saml = connection.saml
    redirect = Constants.BINDING_HTTP_REDIRECT
    provider = {
        "entityId": connection.issuer,
        "singleSignOnService": {"url": saml.sso_url, "binding": redirect},
        "x509certMulti": {"signing": _bodies(saml.certificates)},
    }
    if saml.slo_url:
        provider["singleLogoutService"] = {"url": saml.slo_url, "binding": redirect}
    return {
        "strict": True,
        "sp": _service(connection.pk, is_signing=is_signing),
        "idp": provider,
        "security": {
            **_SECURITY,
            "authnRequestsSigned": is_signing,
            "logoutRequestSigned": is_signing,
            "logoutResponseSigned": is_signing,
        },
    }


def _bodies(pem: str) -> list[str]:
    """Certificates without their armour."""
    parts = pem.split("-----END CERTIFICATE-----")
    bodies = ("".join(part.partition("-----BEGIN CERTIFICATE-----")[2].split()) for part in parts)
    return [body for body in bodies if body]


# A signature of the response or of the assertion is enough (Profiles, section 4.1.4.5); without
# either the library refuses.
_SECURITY: dict[str, Any] = {
    "authnRequestsSigned": True,
    "wantAssertionsSigned": False,
    "wantAttributeStatement": False,
    "requestedAuthnContext": False,
    "rejectDeprecatedAlgorithm": True,
    "allowRepeatAttributeName": True,
    "allowSingleLabelDomains": True,
    "signatureAlgorithm": Constants.RSA_SHA256,
    "digestAlgorithm": Constants.SHA256,
}


def _service(connection_id: UUID, *, is_signing: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "entityId": entity_id(connection_id),
        "assertionConsumerService": {
            "url": acs_url(connection_id),
            "binding": Constants.BINDING_HTTP_POST,
        },
        "singleLogoutService": {
            "url": logout_url(connection_id),
            "binding": Constants.BINDING_HTTP_REDIRECT,
        },
        "NameIDFormat": Constants.NAMEID_UNSPECIFIED,
    }
    if is_signing:
        key = service_key()
        found |= {"privateKey": key.private_key, "x509cert": key.certificate}
    return found
