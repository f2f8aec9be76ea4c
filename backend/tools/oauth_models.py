"""Tables of signing in at tool servers: who we are at an authorization server, and its tokens.

Invariants, held by constraints and by the only writers (oauth/clients.py, oauth/connections.py):
- a client is known to one authorization server, and its secret and what that server gave are sent
  nowhere else;
- a connection is one person's, or the organization's: nobody else's calls find it.
"""

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.models import Organization, User


class OAuthClient(models.Model):
    """Who we are at the authorization server of a tool server.

    Attributes:
        is_given: by a manager; else we registered ourselves, and do it again where that is needed.
        issuer: empty until the authorization server of a given client has been found.
        secret_expires_at: null where it does not.
        names_issuer: the server puts its `iss` into each answer (RFC 9207).
    """

    server = models.OneToOneField(
        "tools.ToolServer",
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="oauth_client",
    )
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    is_given = models.BooleanField(default=False)
    client_id = models.CharField(max_length=1000)
    encrypted_secret = models.TextField(blank=True)
    secret_expires_at = models.DateTimeField(null=True, blank=True)
    auth_method = models.CharField(max_length=32, blank=True)
    issuer = models.CharField(max_length=1000, blank=True)
    names_issuer = models.BooleanField(default=False)
    token_endpoint = models.CharField(max_length=1000, blank=True)
    revocation_endpoint = models.CharField(max_length=1000, blank=True)
    resource = models.CharField(max_length=1000, blank=True)

    def __str__(self) -> str:
        return f"OAuth client of {self.server_id}"


class ConnectionState(models.TextChoices):
    CONNECTED = "connected"
    EXPIRED = "expired", "the tokens are not accepted any more"
    REFUSED = "refused", "the last sign-in was refused"


class ToolConnection(models.Model):
    """A person's way into a tool server, or the organization's (`user` is null).

    Attributes:
        encrypted_tokens: JSON of `access` and `refresh`; empty where there are none.
        client_id: of the client that the tokens were given to.
        account: as the authorization server names whom it let in; empty where it does not.
        error: why it is not connected.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    server = models.ForeignKey(
        "tools.ToolServer", on_delete=models.CASCADE, related_name="connections"
    )
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="tool_connections"
    )
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="tool_connections"
    )
    connected_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    state = models.CharField(max_length=16, choices=ConnectionState.choices)
    encrypted_tokens = models.TextField(blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    client_id = models.CharField(max_length=1000, blank=True)
    scope = models.CharField(max_length=1000, blank=True)
    account = models.CharField(max_length=200, blank=True)
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    connected_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["server", "user"], nulls_distinct=False, name="tool_connection_unique"
            )
        ]

    def __str__(self) -> str:
        return f"Connection {self.id}"
