"""A security key in software: makes passkeys and answers challenges, as WebAuthn level 3 says.

Source: W3C Web Authentication level 3, 5.8.1 (client data), 6.1 (authenticator data), 8.7 (no
attestation). Tests may tell it to lie, which Chromium's virtual authenticator does not.
"""

import hashlib
import json
import os
import struct
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode

_PRESENT, _VERIFIED, _ATTESTED = 0x01, 0x04, 0x40


class Authenticator:
    """One passkey.

    Attributes:
        origin: of the page that asks.
        verified: whether a finger or a PIN was given.
    """

    def __init__(self, origin: str, *, verified: bool = True) -> None:
        self.origin, self.verified = origin, verified
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.credential_id = os.urandom(32)
        self.user_handle = ""

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `navigator.credentials.create` would give, as JSON."""
        public = options["publicKey"]
        self.user_handle = public["user"]["id"]
        cose = cbor.encode(dict(ES256.from_cryptography_key(self.key.public_key())))
        attested = bytes(16) + struct.pack(">H", 32) + self.credential_id + cose
        data = self._data(public["rp"]["id"], _ATTESTED) + attested
        statement = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", public["challenge"])
        return self._credential(
            {
                "clientDataJSON": websafe_encode(client),
                "attestationObject": websafe_encode(statement),
            }
        )

    def get(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `navigator.credentials.get` would give, as JSON."""
        public = options["publicKey"]
        data = self._data(public["rpId"], 0)
        client = self._client("webauthn.get", public["challenge"])
        signed = data + hashlib.sha256(client).digest()
        return self._credential(
            {
                "clientDataJSON": websafe_encode(client),
                "authenticatorData": websafe_encode(data),
                "signature": websafe_encode(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
                "userHandle": self.user_handle,
            }
        )

    def _data(self, rp_id: str, flags: int) -> bytes:
        flags |= _PRESENT | (_VERIFIED if self.verified else 0)
        return hashlib.sha256(rp_id.encode()).digest() + struct.pack(">BI", flags, 0)

    def _client(self, kind: str, challenge: str) -> bytes:
        return json.dumps(
            {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        ).encode()

    def _credential(self, response: dict[str, Any]) -> dict[str, Any]:
        identity = websafe_encode(self.credential_id)
        return {
            "id": identity,
            "rawId": identity,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }
