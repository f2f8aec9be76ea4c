"""Tables of `enterprise`.

Invariants, held by constraints:
- an organization has one identity provider, and that is an OIDC or a SAML one;
- a subject of a provider is one user;
- of a SCIM token only a SHA-256 is stored; an organization has one.
"""

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.models import Membership, Organization, Project, Role, User
from backend.accounts.team_models import ProjectRole


class Protocol(models.TextChoices):
    OIDC = "oidc"
    SAML = "saml"


class Connection(models.Model):
    """An organization's identity provider."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.OneToOneField(
        Organization, on_delete=models.CASCADE, related_name="sso_connection"
    )
    protocol = models.CharField(max_length=8, choices=Protocol.choices)
    issuer = models.CharField(max_length=500, help_text="OIDC: issuer. SAML: the entity id.")
    default_role = models.CharField(max_length=16, choices=Role.choices, default=Role.MEMBER)
    email_claim = models.CharField(
        max_length=200,
        blank=True,
        db_default="",
        help_text="The claim, or SAML attribute, with the e-mail address; empty: the usual names.",
    )
    groups_claim = models.CharField(
        max_length=200,
        default="groups",
        db_default="groups",
        help_text="The claim, or SAML attribute, that names a person's groups.",
    )
    is_enabled = models.BooleanField(default=True)
    is_forced = models.BooleanField(
        default=False, help_text="Members who are no owners cannot sign in with a password."
    )
    allows_idp_initiated = models.BooleanField(
        default=False,
        db_default=False,
        help_text="What the provider starts by itself begins a sign-in of the browser here.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.protocol} of {self.organization}"


class OIDCSettings(models.Model):
    """What only an OIDC provider has."""

    connection = models.OneToOneField(
        Connection, on_delete=models.CASCADE, primary_key=True, related_name="oidc"
    )
    client_id = models.CharField(max_length=300)
    encrypted_secret = models.TextField()
    takes_unstated_email = models.BooleanField(
        default=False,
        db_default=False,
        help_text="An address without `email_verified` counts as verified, as Entra sends it.",
    )
    returns_after_logout = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The provider knows where the browser comes back to after signing out there.",
    )

    def __str__(self) -> str:
        return f"client {self.client_id}"


class SAMLSettings(models.Model):
    """What only a SAML provider has. Certificates are public."""

    connection = models.OneToOneField(
        Connection, on_delete=models.CASCADE, primary_key=True, related_name="saml"
    )
    sso_url = models.CharField(max_length=500)
    slo_url = models.CharField(
        max_length=500, blank=True, db_default="", help_text="Empty: no single logout."
    )
    certificates = models.TextField(help_text="PEM, one or more: the new one beside the old.")

    def __str__(self) -> str:
        return self.sso_url


class ServiceKey(models.Model):
    """One row: the key that signs what this installation sends to SAML providers."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    encrypted_key = models.TextField()
    certificate = models.TextField(help_text="PEM.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="service_key_once")]

    def __str__(self) -> str:
        return "the installation's SAML key"


class Identity(models.Model):
    """A subject of an identity provider, and who that is here."""

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="identities")
    subject = models.CharField(max_length=300)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_sign_in_at = models.DateTimeField(null=True)
    groups = models.JSONField(
        default=list, db_default=[], help_text="Names that the provider gave at the last sign-in."
    )
    is_transient = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The provider gives another subject at each sign-in: it identifies nobody.",
    )

    class Meta:
        verbose_name_plural = "identities"
        constraints = [
            models.UniqueConstraint(fields=["connection", "subject"], name="identity_unique")
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.connection_id}"


class DirectoryToken(models.Model):
    """What an identity provider's directory calls SCIM with."""

    organization = models.OneToOneField(
        Organization, on_delete=models.CASCADE, primary_key=True, related_name="directory_token"
    )
    sha256 = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"SCIM token of {self.organization_id}"


class DirectoryUser(models.Model):
    """A user as the directory has them. Deactivated there, they are no member here."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="directory_users"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="directory_users")
    user_name = models.CharField(max_length=254, help_text="In lower case.")
    external_id = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    resource = models.JSONField(default=dict, help_text="What else the directory sent.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="directory_user_once"),
            models.UniqueConstraint(
                fields=["organization", "user_name"], name="directory_user_name_once"
            ),
        ]
        indexes = [models.Index(fields=["organization", "created_at", "id"], name="scim_users")]

    def __str__(self) -> str:
        return f"{self.user_name} of {self.organization_id}"


class DirectoryGroup(models.Model):
    """A group of the directory, or of the organization's own; `GroupRule` has what it gives."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="directory_groups"
    )
    display_name = models.CharField(max_length=200)
    external_id = models.CharField(max_length=200, blank=True)
    is_scim = models.BooleanField(
        default=True, db_default=True, help_text="Whether the directory sends it: read only here."
    )
    members = models.ManyToManyField(
        DirectoryUser, related_name="groups", help_text="Of the directory's."
    )
    people = models.ManyToManyField(
        Membership, related_name="own_groups", help_text="Of the organization's own."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "display_name"], name="directory_group_once"
            )
        ]
        indexes = [models.Index(fields=["organization", "created_at", "id"], name="scim_groups")]

    def __str__(self) -> str:
        return self.display_name


class GroupRule(models.Model):
    """What people of a group get: a role in the organization, or a place in a project."""

    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="group_rules"
    )
    group = models.CharField(max_length=200, help_text="The name, as the provider writes it.")
    role = models.CharField(max_length=16, choices=Role.choices, blank=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="+")
    project_role = models.CharField(max_length=16, choices=ProjectRole.choices, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "group", "project"],
                nulls_distinct=False,
                name="group_rule_once",
            ),
            models.CheckConstraint(
                condition=models.Q(project=None, project_role="") & ~models.Q(role="")
                | models.Q(project__isnull=False, role="") & ~models.Q(project_role=""),
                name="group_rule_gives_one_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.role or self.project_id}"


class GroupGrant(models.Model):
    """What a member has by their groups, so that it can be taken back with them. What was given by
    hand is not here, and stays."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=16, choices=Role.choices, blank=True)
    projects = models.JSONField(default=list, help_text="Ids.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="group_grant_once")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.organization_id}"


class SignInPolicy(models.Model):
    """What an organization asks of its members' sign-in; without a row, nothing."""

    organization = models.OneToOneField(
        Organization, on_delete=models.CASCADE, primary_key=True, related_name="sign_in_policy"
    )
    requires_second_factor = models.BooleanField(
        default=False,
        help_text="Who signs in with a password needs an authenticator app or a passkey.",
    )

    def __str__(self) -> str:
        return f"sign-in policy of {self.organization}"


class AllowedNetwork(models.Model):
    """A network from which an organization may be used, or its directory call.

    Without a row of the first kind people come from anywhere, without any row the directory too.
    """

    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="allowed_networks"
    )
    cidr = models.CharField(max_length=43)
    note = models.CharField(max_length=200, blank=True)
    for_directory = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Lets only SCIM in: a directory in the cloud, and no people.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "cidr"], name="allowed_network_once")
        ]

    def __str__(self) -> str:
        return self.cidr
