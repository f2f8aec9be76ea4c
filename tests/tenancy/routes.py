"""Routes of the schema: valid bodies, and which are not like the others."""

from typing import Any

ABSENT = "00000000-0000-4000-8000-000000000000"
UPLOAD = {"filename": "a", "purpose": "batch", "bytes": 9, "mime_type": "text/plain"}
# Bodies that are valid, so that a refusal is about the caller and not about the request.
BODIES: dict[tuple[str, str], Any] = {
    ("PATCH", "/api/conversations/{conversation_id}"): {"title": "taken over"},
    ("POST", "/api/conversations/{conversation_id}/messages"): {"content": "hello"},
    ("POST", "/api/messages/{message_id}/regenerate"): {},
    ("POST", "/api/assistants"): {"name": "x"},
    ("PATCH", "/api/assistants/{assistant_id}"): {"name": "taken over", "seen_by": ["member"]},
    ("POST", "/api/assistants/{assistant_id}/files"): {
        "attachment_id": "00000000-0000-4000-8000-000000000000"
    },
    ("PUT", "/api/me/chat-defaults"): {"about": "taken over"},
    ("POST", "/api/memories"): {"text": "taken over"},
    ("PATCH", "/api/memories/{memory_id}"): {"text": "taken over"},
    ("PUT", "/api/memories/settings"): {"is_on": True},
    ("PUT", "/api/memories/policy"): {"is_allowed": True},
    ("POST", "/api/messages/{message_id}/memory"): {"text": "taken over"},
    ("POST", "/api/conversations/bulk"): {
        "ids": ["00000000-0000-4000-8000-000000000000"],
        "action": "delete",
    },
    ("POST", "/api/conversations/trash/erase"): {"ids": [ABSENT]},
    ("POST", "/api/conversations/import"): {"conversations": [{}]},
    ("PUT", "/api/sharing"): {"is_allowed": True},
    ("PUT", "/api/messages/{message_id}/feedback"): {"rating": -1, "comment": "taken over"},
    ("POST", "/v1/chat/completions"): {"model": "auto", "messages": []},
    ("POST", "/v1/chat/completions/{completion_id}"): {"metadata": {"a": "taken over"}},
    ("POST", "/api/chat/completions"): {"model": "auto", "messages": []},
    ("POST", "/v1/completions"): {"model": "auto", "prompt": ""},
    ("POST", "/v1/responses"): {"model": "auto", "input": []},
    ("POST", "/v1/conversations"): {"items": []},
    ("POST", "/v1/conversations/{openai_conversation_id}"): {"metadata": {"a": "taken over"}},
    ("POST", "/v1/conversations/{openai_conversation_id}/items"): {
        "items": [{"role": "user", "content": "taken over"}]
    },
    ("POST", "/v1/messages"): {"model": "auto", "messages": [], "max_tokens": 1},
    ("POST", "/v1/messages/count_tokens"): {"model": "auto", "messages": []},
    ("POST", "/v1/uploads"): UPLOAD,
    ("POST", "/v1/uploads/{upload_id}/complete"): {"part_ids": ["part_1"]},
    ("POST", "/v1/batches"): {
        "input_file_id": "file-1",
        "endpoint": "/v1/embeddings",
        "completion_window": "24h",
    },
    ("POST", "/v1/embeddings"): {"model": "auto", "input": ""},
    ("POST", "/v1/rerank"): {"model": "auto", "query": "x", "documents": []},
    ("POST", "/v1/audio/speech"): {"model": "auto", "input": "", "voice": "joe"},
    ("POST", "/api/audio/speech"): {"model": "auto", "input": "", "voice": "joe"},
    ("POST", "/v1/moderations"): {"input": "hello"},
    ("POST", "/api/conversations"): {},
    ("POST", "/api/keys"): {"name": "x"},
    ("PATCH", "/api/me"): {},
    ("POST", "/api/me/terms"): {"versions": [1]},
    ("PUT", "/api/data-policy"): {
        "retention_days": None,
        "stores_api_calls": True,
        "allows_training": True,
    },
    ("PUT", "/api/data-policy/training"): {"allowed": True},
    ("PUT", "/api/data-policy/reuse"): {"shares_running": True, "answer_cache": "off"},
    ("POST", "/api/exports"): {"scope": "me"},
    ("POST", "/api/erasures/organization"): {"name": "x"},
    ("POST", "/api/me/reauthenticate"): {"password": "a long enough one 7"},
    ("POST", "/api/me/password"): {"password": "a long enough one 7"},
    ("POST", "/api/me/email"): {"email": "other@example.org"},
    ("PUT", "/api/me/totp"): {"code": "000000"},
    ("POST", "/api/me/passkeys"): {"credential": {}},
    ("POST", "/api/budgets"): {"amount": "5"},
    ("PUT", "/api/billing/plan"): {"plan": "free"},
    ("PATCH", "/api/billing/details"): {},
    ("POST", "/api/billing/top-ups"): {"amount": "5"},
    ("POST", "/api/appeals"): {"generation_id": "00000000-0000-4000-8000-000000000000"},
    ("PATCH", "/api/organization"): {"name": "taken over"},
    ("POST", "/api/organization/owner"): {"user_id": "00000000-0000-4000-8000-000000000000"},
    ("PATCH", "/api/organization/members/{user_id}"): {"role": "viewer"},
    ("POST", "/api/organization/members/{user_id}/remove"): {"chats": "keep", "keys": "revoke"},
    ("POST", "/api/organization/invitations"): {"role": "member"},
    ("POST", "/api/organization/domains"): {"domain": "example.org"},
    ("PATCH", "/api/organization/domains/{domain_id}"): {"join": "automatic"},
    ("POST", "/api/projects"): {"name": "x"},
    ("PATCH", "/api/projects/{project_id}"): {"name": "taken over"},
    ("POST", "/api/projects/{project_id}/members"): {
        "user_id": "00000000-0000-4000-8000-000000000000"
    },
    ("PATCH", "/api/projects/{project_id}/members/{user_id}"): {"role": "owner"},
    ("POST", "/api/projects/{project_id}/files"): {
        "attachment_id": "00000000-0000-4000-8000-000000000000"
    },
    ("POST", "/api/projects/{project_id}/service-accounts"): {"name": "x"},
    ("PUT", "/api/projects/{project_id}/rate-limits/{model_id}"): {
        "requests_per_minute": 1,
        "tokens_per_minute": 1,
    },
    ("POST", "/v1/organization/users/{user_id}"): {"role": "reader"},
    ("POST", "/v1/organization/groups"): {"name": "x"},
    ("POST", "/v1/organization/groups/{group_id}"): {"name": "taken over"},
    ("POST", "/v1/organization/groups/{group_id}/users"): {
        "user_id": "00000000-0000-4000-8000-000000000000"
    },
    ("POST", "/v1/organization/groups/{group_id}/roles"): {"role_id": "viewer"},
    ("POST", "/v1/organization/users/{user_id}/roles"): {"role_id": "viewer"},
    ("POST", "/v1/organization/invites"): {"email": "a@example.org", "role": "reader"},
    ("POST", "/v1/organization/admin_api_keys"): {"name": "x"},
    ("POST", "/v1/organization/projects"): {"name": "x"},
    ("POST", "/v1/organization/projects/{project_id}"): {"name": "taken over"},
    ("POST", "/v1/organization/projects/{project_id}/users"): {
        "user_id": "00000000-0000-4000-8000-000000000000",
        "role": "member",
    },
    ("POST", "/v1/organization/projects/{project_id}/users/{user_id}"): {"role": "owner"},
    ("POST", "/v1/organization/projects/{project_id}/service_accounts"): {"name": "x"},
    ("POST", "/v1/organization/projects/{project_id}/rate_limits/{rate_limit_id}"): {},
    ("POST", "/api/me/invitations"): {"token": "none"},
    ("POST", "/api/organization/tool-servers"): {
        "name": "x",
        "url": "https://tools.example.org/mcp",
    },
    ("POST", "/api/organization/web-search"): {"provider": "brave", "token": "x"},
    ("PATCH", "/api/organization/tool-servers/{tool_server_id}"): {"name": "taken over"},
    ("PUT", "/api/me/tools/{tool_server_id}"): {"on": True},
    ("POST", "/api/tool-servers/{tool_server_id}/connection"): {},
    ("POST", "/api/tool-calls/{tool_call_id}/decision"): {"decision": "once"},
    ("PUT", "/api/tool-calls/{tool_call_id}/run"): {"run_id": ABSENT},
    ("POST", "/api/tool-calls/{tool_call_id}/release"): {"run_id": ABSENT},
    ("POST", "/api/tool-calls/{tool_call_id}/result"): {"run_id": ABSENT, "outcome": "ended"},
    ("POST", "/api/webhooks"): {"url": "https://example.org/hook", "types": ["invoice.issued"]},
}
PUBLIC = {
    ("GET", "/api/shared/{token}"),
    ("GET", "/api/exports/download"),
    # Where an identity provider sends browsers, with what only it can sign (test_sso.py), or to
    # begin a sign-in of its own there (test_sso_by_provider.py).
    ("GET", "/api/auth/sso/oidc/callback"),
    ("GET", "/api/auth/sso/saml/finish"),
    ("GET", "/api/auth/sso/saml/{connection_id}/metadata"),
    ("POST", "/api/auth/sso/saml/{connection_id}/acs"),
    ("GET", "/api/auth/sso/saml/{connection_id}/logout"),
    ("POST", "/api/auth/sso/saml/{connection_id}/logout"),
    ("POST", "/api/auth/sso/oidc/{connection_id}/backchannel-logout"),
    ("GET", "/api/auth/sso/{connection_id}/start"),
    # A provider's events carry its signature: tests/billing/test_payments.py forges it.
    ("POST", "/api/payments/stripe"),
}
# Need a CSRF token, but no signed-in user.
BEFORE_SIGNING_IN = {
    ("POST", f"/api/auth/{path}")
    for path in (
        "login",
        "signup",
        "sso",
        "signup/confirm",
        "second-factor",
        "invitation",
        "passkey",
        "passkey/options",
        "password-reset",
        "password-reset/confirm",
        "address/confirm",
        "address/stop",
    )
}
# A person's own account: no key opens it, so a key finds nothing out about it either.
SESSION_ONLY = {
    ("DELETE", "/api/me/passkeys/{passkey_id}"),
    ("DELETE", "/api/me/sessions/{session_id}"),
    ("POST", "/api/announcements/{announcement_id}/dismiss"),
    ("GET", "/api/request-logs/{log_id}"),
    ("PUT", "/api/me/tools/{tool_server_id}"),
    ("POST", "/api/tool-servers/{tool_server_id}/connection"),
    ("DELETE", "/api/tool-servers/{tool_server_id}/connection"),
    ("GET", "/api/tool-servers/{tool_server_id}/callback"),
    ("DELETE", "/api/me/tool-grants/{tool_grant_id}"),
    ("GET", "/api/conversations/{conversation_id}/tool-calls"),
    ("POST", "/api/conversations/{conversation_id}/tool-calls/stop"),
    ("POST", "/api/tool-calls/{tool_call_id}/decision"),
    ("POST", "/api/tool-calls/{tool_call_id}/run"),
    ("PUT", "/api/tool-calls/{tool_call_id}/run"),
    ("POST", "/api/tool-calls/{tool_call_id}/release"),
    ("POST", "/api/tool-calls/{tool_call_id}/result"),
    ("PATCH", "/api/organization/tool-servers/{tool_server_id}"),
    ("DELETE", "/api/organization/tool-servers/{tool_server_id}"),
    ("POST", "/api/organization/tool-servers/{tool_server_id}/check"),
    ("POST", "/api/exports/{export_id}/link"),
}
# What only a key with the scope `administration` opens.
ADMINISTRATION = (
    "/api/organization",
    "/api/projects",
    "/v1/organization/users",
    "/v1/organization/invites",
    "/v1/organization/admin_api_keys",
    "/v1/organization/projects",
    "/v1/organization/groups",
    "/v1/organization/roles",
)
