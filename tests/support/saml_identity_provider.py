"""A SAML identity provider of pysaml2 on loopback, which nobody here wrote.

It reads this installation's metadata, wants our requests signed, and publishes metadata of its own.
saml_provider.py beside it is the attacker, which says whatever a test wants.
"""

import base64
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import xmlsec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from lxml import etree
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.attribute_converter import AttributeConverter
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server
from saml2.sigver import CryptoBackend
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256
from xmlsec import constants

from tests.support.saml_provider import certificate_of

_AS_NAMED = "urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified"


class InProcessXmlsec(CryptoBackend):
    """pysaml2 calls the program xmlsec1; this calls the library that the program is made of."""

    def sign_statement(self, statement: bytes, node_name: str, key_file: str, node_id: str) -> str:
        root = etree.fromstring(statement)
        xmlsec.tree.add_ids(root, ["ID"])
        (signed,) = root.xpath(f"//*[@ID='{node_id}']")
        context = xmlsec.SignatureContext()
        context.key = xmlsec.Key.from_file(key_file, constants.KeyDataFormatPem)
        signature = xmlsec.tree.find_child(signed, constants.NodeSignature)
        context.sign(signature)
        return etree.tostring(root).decode()


class IdentityProvider:
    """Serves until `close`.

    Attributes:
        metadata: what an owner pastes.
        person: who signs in next: attributes as the provider names them.
        name_id: their identifier. signs: "response", "assertion", or "both".
    """

    def __init__(self, folder: Path) -> None:
        self.person: dict[str, Any] = {}
        self.name_id = NameID(format=NAMEID_FORMAT_PERSISTENT, text="employee-7")
        self.signs = "assertion"
        self.logouts: list[Any] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self)

            def log_message(self, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self.entity_id = f"{self.url}/metadata"
        self._folder = folder
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        (folder / "key.pem").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
        )
        (folder / "certificate.pem").write_text(certificate_of(key))
        self.metadata = str(entity_descriptor(self._config(None)))
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def learn(self, service_metadata: bytes) -> None:
        """Import this installation's metadata, as the provider's administrator does."""
        self._server = Server(config=self._config(service_metadata.decode()))
        self._server.sec.crypto = InProcessXmlsec()

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        url = urlsplit(http.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/metadata":
            return self._send(http, self.metadata)
        if url.path == "/slo":
            return self._send(http, self._logged_out(query))
        return self._send(http, self._signed_in(query))

    def logout_form(self, url: str) -> dict[str, str]:
        """A request to sign the person out, as the provider's page posts it."""
        _, request = self._server.create_logout_request(
            url,
            self.entity_id,
            name_id=self.name_id,
            sign=True,
            sign_alg=SIG_RSA_SHA256,
            digest_alg=DIGEST_SHA256,
        )
        xml = request if isinstance(request, str) else str(request)
        return {"SAMLRequest": base64.b64encode(xml.encode()).decode(), "RelayState": "there"}

    def forged_logout_form(self, url: str, attack: str) -> dict[str, str]:
        """The same, unsigned, changed after the signature, or wrapped around a signed one."""
        form = self.logout_form(url)
        root = etree.fromstring(base64.b64decode(form["SAMLRequest"]))
        signature = xmlsec.tree.find_child(root, constants.NodeSignature)
        if attack == "unsigned":
            root.remove(signature)
        elif attack == "changed":
            root.set("IssueInstant", "2020-01-01T00:00:00Z")
        else:
            assert signature is not None
            whole = etree.fromstring(etree.tostring(root))
            root.set("ID", "_forged")
            signature.append(whole)
        return {"SAMLRequest": base64.b64encode(etree.tostring(root)).decode()}

    def _signed_in(self, query: dict[str, str]) -> str:
        """The page that posts the answer; an unsigned or forged request raises."""
        request = self._server.parse_authn_request(
            query["SAMLRequest"],
            BINDING_HTTP_REDIRECT,
            relay_state=query.get("RelayState"),
            sigalg=query.get("SigAlg"),
            signature=query.get("Signature"),
        ).message
        answer = self._server.create_authn_response(
            self.person,
            request.id,
            request.assertion_consumer_service_url,
            request.issuer.text,
            name_id=self.name_id,
            authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"},
            sign_response=self.signs in ("response", "both"),
            sign_assertion=self.signs in ("assertion", "both"),
            sign_alg=SIG_RSA_SHA256,
            digest_alg=DIGEST_SHA256,
        )
        packed = base64.b64encode(str(answer).encode()).decode()
        action = request.assertion_consumer_service_url
        return f'<form action="{action}"><input name="SAMLResponse" value="{packed}"></form>'

    def _logged_out(self, query: dict[str, str]) -> str:
        request = self._server.parse_logout_request(
            query["SAMLRequest"],
            BINDING_HTTP_REDIRECT,
            relay_state=query.get("RelayState"),
            sigalg=query.get("SigAlg"),
            signature=query.get("Signature"),
        )
        self.logouts.append(request.message.name_id.text)
        return "signed out"

    def _send(self, http: BaseHTTPRequestHandler, text: str) -> None:
        body = text.encode()
        http.send_response(200)
        http.send_header("Content-Length", str(len(body)))
        http.end_headers()
        http.wfile.write(body)

    def _config(self, service_metadata: str | None) -> IdPConfig:
        found: dict[str, Any] = {
            "entityid": self.entity_id,
            "xmlsec_binary": "/bin/true",  # must exist; `InProcessXmlsec` takes its place
            "key_file": str(self._folder / "key.pem"),
            "cert_file": str(self._folder / "certificate.pem"),
            "service": {
                "idp": {
                    "want_authn_requests_signed": True,
                    "want_authn_requests_only_with_valid_cert": False,
                    "endpoints": {
                        "single_sign_on_service": [(f"{self.url}/sso", BINDING_HTTP_REDIRECT)],
                        "single_logout_service": [
                            (f"{self.url}/slo", BINDING_HTTP_REDIRECT),
                            (f"{self.url}/slo", BINDING_HTTP_POST),
                        ],
                    },
                    "policy": {"default": {"lifetime": {"minutes": 5}, "name_form": _AS_NAMED}},
                }
            },
        }
        if service_metadata is not None:
            found["metadata"] = {"inline": [service_metadata]}
        config = IdPConfig()
        config.load(found)
        as_named = AttributeConverter(_AS_NAMED)
        as_named.from_dict({"identifier": _AS_NAMED, "to": {}, "fro": {}})
        config.attribute_converters = [as_named]
        if service_metadata is None:  # it would be asked for its algorithms
            config.xmlsec_binary = None
        return config
