"""An id token of an OIDC provider counts only as it was asked for."""

from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from backend.enterprise.oidc import checked_claims
from backend.platform.errors import PermissionDenied

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
GOOD = {
    "iss": "https://idp.example.com",
    "aud": "parley",
    "sub": "1",
    "nonce": "n",
    "iat": 1_700_000_000,
    "exp": 4_000_000_000,
}


def checked(token: str) -> dict[str, Any]:
    return checked_claims(
        token,
        key=KEY.public_key(),
        issuer="https://idp.example.com",
        client_id="parley",
        nonce="n",
    )


def test_right_id_token_is_taken() -> None:
    assert checked(jwt.encode(GOOD, KEY, algorithm="RS256"))["sub"] == "1"


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://other.example.com"},
        {"aud": "another"},
        {"aud": ["parley", "another"]},
        {"aud": ["parley", "another"], "azp": "another"},
        {"nonce": "other"},
        {"nonce": None},
        {"exp": 1_700_000_001},
        {"iat": 3_900_000_000},
        {"sub": None},
    ],
)
def test_id_token_that_is_not_for_us_is_refused(change: dict[str, Any]) -> None:
    claims = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    with pytest.raises(PermissionDenied):
        checked(jwt.encode(claims, KEY, algorithm="RS256"))


def test_id_token_without_the_providers_signature_is_refused() -> None:
    tokens = [
        jwt.encode(GOOD, OTHER_KEY, algorithm="RS256"),
        jwt.encode(GOOD, "", algorithm="none"),
        jwt.encode(GOOD, "the client's own secret, of 32 bytes", algorithm="HS256"),
        jwt.encode(GOOD, KEY, algorithm="RS256")[:-4] + "AAAA",
        "no.token.at all",
    ]
    for token in tokens:
        with pytest.raises(PermissionDenied):
            checked(token)
