"""The SAML attacker: an identity provider on loopback whose answers say whatever a test wants.

It reads the request of a redirect, and answers with a page whose form posts a response. It signs
with signxml, so what the product checks with xmlsec was made by another implementation. The honest
provider is pysaml2's (saml_identity_provider.py)."""

import base64
import re
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID
from lxml import etree
from signxml import XMLSigner
from signxml.algorithms import CanonicalizationMethod

_ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion"
_PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol"
_EXCLUSIVE = CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0
_TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass
class Answer:
    """What the next response says; a test changes what it attacks."""

    email: str
    subject: str = ""
    audience: str | None = None
    issuer: str | None = None
    in_response_to: str | None = None  # empty: the provider begins by itself
    is_signed: bool = True
    valid_s: int = 300
    groups: tuple[str, ...] = ()
    doctype: str = ""
    change: Callable[[etree._Element], None] | None = None  # after it was signed


@dataclass
class SAMLProvider:
    """Serves until `close`. `certificate` is what an owner enters."""

    answer: Answer = field(default_factory=lambda: Answer("nobody@example.org"))

    def __post_init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.certificate = certificate_of(self._key)
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = provider.page(self.path).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def page(self, path: str) -> str:
        """The form that a browser would submit."""
        packed = parse_qs(urlsplit(path).query)["SAMLRequest"][0]
        request = etree.fromstring(zlib.decompress(base64.b64decode(packed), -15))
        acs = request.get("AssertionConsumerServiceURL")
        audience = request.findtext(f"{{{_ASSERTION}}}Issuer")
        response = self.response(acs=acs, audience=audience, request_id=request.get("ID"))
        return (
            f'<form method="post" action="{acs}">'
            f'<input name="SAMLResponse" value="{response}"></form>'
            "<script>document.forms[0].submit()</script>"
        )

    def response(self, *, acs: str, audience: str, request_id: str) -> str:
        """A response as it is posted, in base64."""
        answer = self.answer
        xml = _XML.format(
            response_id=f"_{uuid4().hex}",
            assertion_id=f"_{uuid4().hex}",
            now=datetime.now(UTC).strftime(_TIME),
            until=(datetime.now(UTC) + timedelta(seconds=answer.valid_s)).strftime(_TIME),
            before=(datetime.now(UTC) - timedelta(seconds=600)).strftime(_TIME),
            acs=acs,
            in_response_to=_in_response_to(answer, request_id),
            issuer=answer.issuer or f"{self.url}/metadata",
            audience=answer.audience or audience,
            subject=answer.subject or answer.email,
            email=answer.email,
            groups="".join(_VALUE.format(name) for name in answer.groups),
        )
        root = etree.fromstring(xml)
        assertion = root.find(f"{{{_ASSERTION}}}Assertion")
        assert assertion is not None
        if answer.is_signed:
            signer = XMLSigner(c14n_algorithm=_EXCLUSIVE)
            signed = signer.sign(
                assertion,
                key=self._key,
                cert=[self.certificate],
                reference_uri=assertion.get("ID"),
            )
            _put_signature_second(signed)
            root.replace(assertion, signed)
        if answer.change is not None:
            answer.change(root)
        return base64.b64encode(answer.doctype.encode() + etree.tostring(root)).decode()

    def logout_url(
        self, url: str, *, issuer: str = "", subject: str, is_signed: bool = True
    ) -> str:
        """`url` with a request that signs a person out, as a browser is redirected with it."""
        xml = _LOGOUT_XML.format(
            id=f"_{uuid4().hex}",
            now=datetime.now(UTC).strftime(_TIME),
            url=url,
            issuer=issuer or f"{self.url}/metadata",
            subject=subject,
        )
        packed = zlib.compress(xml.encode(), wbits=-15)
        query = urlencode({"SAMLRequest": base64.b64encode(packed).decode()})
        if is_signed:
            query += f"&{urlencode({'SigAlg': _RSA_SHA256})}"
            made = self._key.sign(query.encode(), padding.PKCS1v15(), hashes.SHA256())
            query += f"&{urlencode({'Signature': base64.b64encode(made).decode()})}"
        return f"{urlsplit(url).path}?{query}"


def _in_response_to(answer: Answer, request_id: str) -> str:
    named = request_id if answer.in_response_to is None else answer.in_response_to
    return f' InResponseTo="{named}"' if named else ""


def encrypt(root: etree._Element) -> None:
    """In the form of an encrypted assertion."""
    assertion = root.find(f"{{{_ASSERTION}}}Assertion")
    assert assertion is not None
    sealed = etree.fromstring(_ENCRYPTED)
    root.replace(assertion, sealed)


def form_of(page: str) -> tuple[str, dict[str, str]]:
    """Where a page's form goes, and what it posts."""
    action = re.search(r'action="([^"]+)"', page)
    response = re.search(r'value="([^"]+)"', page)
    assert action is not None
    assert response is not None
    return action[1], {"SAMLResponse": response[1]}


def wrap(root: etree._Element) -> None:
    """Signature wrapping: the signed assertion is moved aside, an unsigned one of another person
    stands where it was read."""
    signed = root.find(f"{{{_ASSERTION}}}Assertion")
    assert signed is not None
    forged = etree.fromstring(etree.tostring(signed))
    signature = forged.find("{http://www.w3.org/2000/09/xmldsig#}Signature")
    assert signature is not None
    forged.remove(signature)
    forged.set("ID", "_forged")
    for element in forged.iter(f"{{{_ASSERTION}}}NameID", f"{{{_ASSERTION}}}AttributeValue"):
        element.text = "victim@example.com"
    root.replace(signed, forged)
    extensions = etree.SubElement(root, f"{{{_PROTOCOL}}}Extensions")
    extensions.append(signed)


def rename(root: etree._Element) -> None:
    """The person is changed after the signature was made."""
    for element in root.iter(f"{{{_ASSERTION}}}NameID", f"{{{_ASSERTION}}}AttributeValue"):
        element.text = "victim@example.com"


def regroup(root: etree._Element) -> None:
    """The person is put into another group after the signature was made."""
    (value,) = root.findall(f".//{{{_ASSERTION}}}Attribute[@Name='groups']/*")
    value.text = "Admins"


def _put_signature_second(assertion: etree._Element) -> None:
    """The schema wants it right after the issuer."""
    signature = assertion.find("{http://www.w3.org/2000/09/xmldsig#}Signature")
    assert signature is not None
    assertion.remove(signature)
    assertion.insert(1, signature)


def certificate_of(key: rsa.RSAPrivateKey) -> str:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "provider")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return built.public_bytes(serialization.Encoding.PEM).decode()


_RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
_ENCRYPTED = """<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"
><xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"
 Type="http://www.w3.org/2001/04/xmlenc#Element"><xenc:CipherData
><xenc:CipherValue>c2VhbGVk</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData
></saml:EncryptedAssertion>"""
_LOGOUT_XML = """<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
 xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{id}" Version="2.0" IssueInstant="{now}"
 Destination="{url}"><saml:Issuer>{issuer}</saml:Issuer><saml:NameID>{subject}</saml:NameID
></samlp:LogoutRequest>"""
_VALUE = "<saml:AttributeValue>{}</saml:AttributeValue>"
_XML = """<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
 xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{response_id}" Version="2.0"
 IssueInstant="{now}" Destination="{acs}"{in_response_to}
><saml:Issuer>{issuer}</saml:Issuer><samlp:Status><samlp:StatusCode
 Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status><saml:Assertion
 ID="{assertion_id}" Version="2.0" IssueInstant="{now}"><saml:Issuer>{issuer}</saml:Issuer
><saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
>{subject}</saml:NameID><saml:SubjectConfirmation
 Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData
 NotOnOrAfter="{until}" Recipient="{acs}"{in_response_to}/></saml:SubjectConfirmation
></saml:Subject><saml:Conditions NotBefore="{before}" NotOnOrAfter="{until}"
><saml:AudienceRestriction><saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction
></saml:Conditions><saml:AuthnStatement AuthnInstant="{now}"><saml:AuthnContext
><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef
></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="email"
><saml:AttributeValue>{email}</saml:AttributeValue></saml:Attribute><saml:Attribute Name="groups"
>{groups}</saml:Attribute></saml:AttributeStatement
></saml:Assertion></samlp:Response>"""
