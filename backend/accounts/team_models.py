"""Tables of teams: who is invited, who joins by their address, who and what is in a project.

Invariants, held by constraints:
- of an invitation's link only a SHA-256 is stored;
- one organization has verified a domain, and it verified it by the name server of that domain;
- a user is in a project once; a project has one limit for a model.
"""

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.core_models import Membership, Organization, Project, Role, User


class Invitation(models.Model):
    """A link that makes its holder a member: mailed to one address, or handed on by hand."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="invitations"
    )
    email = models.EmailField(blank=True, help_text="Only for this address; empty for a link.")
    role = models.CharField(max_length=16, choices=Role.choices)
    projects = models.JSONField(default=list, help_text='[{"id", "role"}]: joined as well.')
    token_sha256 = models.CharField(max_length=64, unique=True)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    invited_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "-created_at"], name="invitation_list")]

    def __str__(self) -> str:
        return f"Invitation {self.id}"

    @property
    def status(self) -> str:
        """pending, accepted (as often as it can be), expired or revoked."""
        if self.uses >= self.max_uses:
            return "accepted"
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "pending"


class DomainJoin(models.TextChoices):
    REQUEST = "request", "people ask, and an owner or admin decides"
    AUTOMATIC = "automatic", "people are members at once"


class OrganizationDomain(models.Model):
    """A domain that an organization says is its own; once verified, its people can join."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="domains")
    domain = models.CharField(max_length=253, help_text="In lower case, as DNS has it.")
    token = models.CharField(max_length=64, help_text="What its TXT record has to say.")
    join = models.CharField(max_length=16, choices=DomainJoin.choices, default=DomainJoin.REQUEST)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    verified_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["domain"],
                condition=models.Q(verified_at__isnull=False),
                name="domain_verified_once",
            ),
            models.UniqueConstraint(fields=["organization", "domain"], name="domain_claimed_once"),
        ]

    def __str__(self) -> str:
        return self.domain


class JoinRequest(models.Model):
    """A person whose address is of a verified domain asks to join; gone once it is decided."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="join_requests"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="join_requests")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="join_request_unique")
        ]

    def __str__(self) -> str:
        return f"{self.user} asks to join {self.organization}"


class ProjectRole(models.TextChoices):
    OWNER = "owner"
    MEMBER = "member"


class ProjectMember(models.Model):
    """A member's place in a project. Owners and admins of the organization need none."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="members")
    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="project_memberships"
    )
    role = models.CharField(max_length=16, choices=ProjectRole.choices, default=ProjectRole.MEMBER)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "membership"], name="project_member_unique")
        ]

    def __str__(self) -> str:
        return f"{self.membership_id} in {self.project} ({self.role})"


class ServiceAccount(models.Model):
    """A program's account in a project: it holds keys that outlive who made them.

    It has a row in `User`, so that keys, limits and usage have one kind of holder; that has
    neither a password nor a verified address, so nothing signs in to it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="service_accounts")
    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="service_account")
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.name


class ProjectRateLimit(models.Model):
    """What a project may ask of one model a minute; without a row, what the plan allows."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rate_limits")
    model = models.CharField(max_length=100)
    requests_per_minute = models.PositiveIntegerField()
    tokens_per_minute = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "model"], name="project_rate_limit_unique")
        ]

    def __str__(self) -> str:
        return f"{self.model} in {self.project}"
