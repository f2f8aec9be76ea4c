"""A SAML provider's metadata, by its address or as text: what an owner need not copy by hand."""

import asyncio
from dataclasses import dataclass
from typing import Any

from lxml.etree import LxmlError
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Constants
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser as Parser

from backend.enterprise.outbound import get_text, url_check
from backend.platform.errors import InvalidRequest

MAX_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class ProviderMetadata:
    """The fields of the form. `certificates` are in PEM; `slo_url` is empty without logout."""

    issuer: str
    sso_url: str
    slo_url: str
    certificates: str


async def metadata_read(source: str) -> ProviderMetadata:
    """The metadata at an https address, or in `source` itself.

    Raises:
        InvalidRequest: names `metadata`: no metadata of an identity provider.
        UpstreamFailed: the address does not answer.
    """
    source = source.strip()
    if source.startswith("<"):
        return await asyncio.to_thread(_parsed, source)
    url_check(source, param="metadata")
    return await asyncio.to_thread(_parsed, await get_text(source))


def _parsed(text: str) -> ProviderMetadata:
    if len(text) > MAX_CHARACTERS:
        raise _wrong(f"it has more than {MAX_CHARACTERS:,} characters")
    redirect = Constants.BINDING_HTTP_REDIRECT
    try:
        found: dict[str, Any] = Parser.parse(
            text.encode(), required_sso_binding=redirect, required_slo_binding=redirect
        )
    except (LxmlError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise _wrong("it is no XML of SAML") from error
    provider = found.get("idp") or {}
    issuer = provider.get("entityId")
    sso_url = (provider.get("singleSignOnService") or {}).get("url")
    if not issuer or not sso_url:
        raise _wrong("it names no identity provider with sign-in by redirect")
    several = (provider.get("x509certMulti") or {}).get("signing")
    bodies = several or [provider["x509cert"]] if "x509cert" in provider or several else []
    if not bodies:
        raise _wrong("it has no certificate for signatures")
    return ProviderMetadata(
        issuer=issuer,
        sso_url=sso_url,
        slo_url=(provider.get("singleLogoutService") or {}).get("url") or "",
        certificates="".join(_armoured(body) for body in dict.fromkeys(bodies)),
    )


def _armoured(body: str) -> str:
    text = "".join(body.split())
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])


def _wrong(why: str) -> InvalidRequest:
    return InvalidRequest(f"The metadata cannot be read: {why}.", param="metadata")
