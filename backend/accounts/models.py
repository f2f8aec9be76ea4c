"""Tables of `accounts`. An organization owns everything that the other apps store.

Invariants, held by constraints:
- an e-mail address is one user, whatever its case;
- a user has at most one membership in an organization;
- an organization has exactly one default project;
- of an API key only a display prefix and a SHA-256 are stored.
"""

import uuid
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower

from backend.accounts.managers import UserManager


class User(AbstractUser):
    """A person. Signs in with an e-mail address; belongs to organizations by Membership."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_ci_unique")]

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name or self.email


class Plan(models.Model):
    """What an organization may use, and how soon it is served."""

    slug = models.SlugField(primary_key=True)
    name = models.CharField(max_length=100)
    queue_priority = models.IntegerField(help_text="Smaller is served sooner.")
    requests_per_minute = models.PositiveIntegerField()
    tokens_per_minute = models.PositiveIntegerField()
    concurrent_generations = models.PositiveIntegerField()

    class Meta:
        ordering = ["queue_priority"]

    def __str__(self) -> str:
        return self.name


class Organization(models.Model):
    """The tenant. Every row elsewhere that holds content or usage names one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, default="free")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Project(models.Model):
    """A part of an organization that API keys, usage and budgets are grouped by."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="projects"
    )
    name = models.CharField(max_length=200)
    is_default = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization"],
                condition=models.Q(is_default=True),
                name="project_one_default",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    FINANCE = "finance"


class Membership(models.Model):
    """A user's role in an organization."""

    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="memberships"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.MEMBER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="membership_unique")
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.organization} ({self.role})"


class APIKey(models.Model):
    """A developer's credential: `sk-parley-` and 32 random bytes in base62, shown once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="api_keys"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=200)
    prefix = models.CharField(max_length=24, help_text="The first characters, for display.")
    sha256 = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    is_internal = models.BooleanField(
        default=False, help_text="The product made it for its own calls; nobody holds the secret."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API key"
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
