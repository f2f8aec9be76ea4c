"""Chapters 8 to 12: rights, tokens, identity providers, cryptography, connections."""

from tests.asvs.mutation import Mutation

_SSO = "tests/api/test_sso.py"
_KEYS = "tests/platform/test_keys.py"
_INTERNAL = "tests/accounts/test_internal_calls.py"

MUTATIONS = [
    Mutation(
        ("8.2.1",),
        "billing/permissions.py",
        "    if principal.role not in MANAGERS:\n",
        "    if False:\n",
        "tests/billing/test_permissions.py",
    ),
    Mutation(
        ("8.2.2", "8.4.1"),
        "backend/conversations/selectors.py",
        "organization_id=principal.organization_id, user_id=principal.user_id, deleted_at=None",
        "deleted_at=None",
        "tests/conversations/test_tenants.py",
    ),
    Mutation(
        ("8.3.1",),
        "backend/accounts/project_access.py",
        "    projects = Project.objects.filter(organization_id=principal.organization_id)\n"
        "    if principal.manages_organization:\n",
        "    projects = Project.objects.all()\n    if principal.manages_organization:\n",
        "tests/api/test_tenancy.py",
    ),
    Mutation(
        ("9.1.1",),
        "backend/accounts/internal_calls.py",
        "        value = token_read(\n"
        "            bearer.removeprefix(PREFIX), purpose=Purpose.INTERNAL_CALL,"
        " max_age_s=LIFETIME_S\n        )\n",
        "        value = signing.json.loads(signing.b64_decode(\n"
        "            bearer.removeprefix(PREFIX).split(':')[0].encode()))\n",
        _INTERNAL,
    ),
    Mutation(
        ("9.1.2",),
        "backend/platform/encryption.py",
        "    ring = keyring()\n    return signing.loads(\n",
        "    ring = keyring()\n"
        "    try:\n"
        "        return signing.TimestampSigner(\n"
        '            key=ring.text_key(purpose), salt=f"parley.{purpose}", algorithm="sha1"\n'
        "        ).unsign_object(token, max_age=max_age_s)\n"
        "    except signing.BadSignature:\n"
        "        pass\n"
        "    return signing.loads(\n",
        f"{_KEYS}::test_token_signed_by_another_algorithm_is_refused",
    ),
    Mutation(
        ("9.1.3",),
        "backend/platform/keys.py",
        "        return _derived(self._keys[version].secret, purpose)\n",
        '        return _derived("the same everywhere", purpose)\n',
        _KEYS,
    ),
    Mutation(
        ("9.2.1",),
        "backend/platform/encryption.py",
        "        max_age=max_age_s,\n",
        "",
        _INTERNAL,
    ),
    Mutation(
        ("9.2.2",),
        "backend/platform/keys.py",
        "        return _derived(self._keys[version].secret, purpose)\n",
        "        return _derived(self._keys[version].secret, Purpose.SIGNING)\n",
        _KEYS,
    ),
    Mutation(
        ("9.2.3",),
        "backend/accounts/internal_calls.py",
        "        value = token_read(\n"
        "            bearer.removeprefix(PREFIX), purpose=Purpose.INTERNAL_CALL,"
        " max_age_s=LIFETIME_S\n        )\n",
        "        for purpose in Purpose:\n"
        "            try:\n"
        "                value = token_read(\n"
        "                    bearer.removeprefix(PREFIX), purpose=purpose, max_age_s=LIFETIME_S\n"
        "                )\n"
        "            except signing.BadSignature:\n"
        "                continue\n",
        f"{_INTERNAL}::test_token_of_another_service_is_refused",
    ),
    Mutation(
        ("10.1.2", "10.2.1"),
        "backend/enterprise/oidc.py",
        '    if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):\n',
        "    if False:\n",
        _SSO,
    ),
    Mutation(
        ("10.5.1",),
        "backend/enterprise/oidc.py",
        '        "nonce": attempt.nonce,\n',
        "",
        _SSO,
    ),
    Mutation(
        ("10.5.3",),
        "backend/enterprise/oidc.py",
        '    if found.get("issuer") != issuer:\n',
        "    if False:\n",
        _SSO,
    ),
    Mutation(
        ("10.2.2",),
        "backend/enterprise/oidc.py",
        '    if claims.get("azp", client_id if not several else None) != client_id:\n',
        "    if False:\n",
        "tests/api/test_id_tokens.py",
    ),
    Mutation(
        ("10.5.4",),
        "backend/enterprise/oidc.py",
        "            audience=client_id,\n            leeway=_LEEWAY_S,\n"
        '            options={"require": ["iss", "sub", "aud", "exp", "iat"]},\n',
        "            leeway=_LEEWAY_S,\n"
        '            options={"require": ["iss", "sub", "aud", "exp", "iat"], "verify_aud": False},\n',
        "tests/api/test_id_tokens.py",
    ),
    Mutation(
        ("11.2.2",),
        "backend/platform/encryption.py",
        '    return f"v{version}.{base64.urlsafe_b64encode(nonce + sealed).decode()}"\n',
        '    return f"v1.{base64.urlsafe_b64encode(nonce + sealed).decode()}"\n',
        "tests/platform/test_rotation.py",
    ),
    Mutation(
        ("11.2.3",),
        "backend/platform/keys.py",
        "        if len(key.secret) < MIN_SECRET_CHARACTERS:\n",
        "        if False:\n",
        _KEYS,
    ),
    Mutation(
        ("11.3.1", "11.3.2"),
        "backend/platform/encryption.py",
        "    nonce = os.urandom(_NONCE_BYTES)\n",
        "    nonce = bytes(_NONCE_BYTES)\n",
        _KEYS,
    ),
    Mutation(
        ("11.3.3",),
        "backend/platform/encryption.py",
        '    return json.dumps(["parley", purpose, version, *map(str, context)]).encode()\n',
        '    return b"parley"\n',
        _KEYS,
    ),
    Mutation(
        ("11.4.2",),
        "backend/settings.py",
        "django.contrib.auth.hashers.Argon2PasswordHasher",
        "django.contrib.auth.hashers.MD5PasswordHasher",
        "tests/accounts/test_sign_up.py",
    ),
    Mutation(
        ("11.4.3",),
        "backend/platform/encryption.py",
        '    return hmac.new(key, value.encode(errors="replace"), hashlib.sha256).hexdigest()\n',
        '    return hmac.new(key, value.encode(errors="replace"), hashlib.sha1).hexdigest()\n',
        _KEYS,
    ),
    Mutation(
        ("11.5.1",),
        "backend/accounts/keys.py",
        "    return secret_from(secrets.token_bytes(_RANDOM_BYTES))\n",
        "    return secret_from(b'\\0' * _RANDOM_BYTES)\n",
        "tests/accounts/test_api_keys.py",
    ),
    Mutation(
        ("11.5.1",),
        "backend/conversations/shares.py",
        "_TOKEN_BYTES = 24\n",
        "_TOKEN_BYTES = 8\n",
        "tests/conversations/test_shares.py",
    ),
    Mutation(
        ("12.3.2",),
        "backend/platform/guarded_client.py",
        "httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)",
        "httpx2.AsyncHTTPTransport(verify=False, trust_env=False)",
        "tests/billing/test_webhooks.py::test_delivery_needs_a_certificate_that_is_trusted",
    ),
    Mutation(
        ("12.3.2",),
        "backend/platform/guarded_client.py",
        "httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)",
        "httpx2.AsyncHTTPTransport(verify=False, trust_env=False)",
        "tests/platform/test_guarded_client.py::test_certificate_that_is_not_trusted_is_refused",
    ),
    Mutation(
        ("11.4.4",),
        "inference/connector/pool_keys.py",
        "_MIN_KEY = 32\n",
        "_MIN_KEY = 1\n",
        "tests/inference/connector/test_encryption.py",
    ),
    Mutation(
        ("11.6.1", "12.3.3"),
        "inference/connector/pool_keys.py",
        "        socket.curve_server = True\n",
        "        return\n",
        "tests/inference/connector/test_encryption.py",
    ),
    Mutation(
        ("10.5.2",),
        "backend/enterprise/oidc.py",
        '        subject=str(claims["sub"]),\n',
        '        subject=str(claims.get("email")),\n',
        "tests/api/test_sso.py::test_newcomer_joins_by_oidc_without_a_password",
    ),
]
