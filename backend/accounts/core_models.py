"""Tables of `accounts`. An organization owns everything that the other apps store.

Invariants, held by constraints:
- an e-mail address is one user, whatever its case;
- a user has at most one membership in an organization;
- an organization has exactly one default project;
- of an API key only a display prefix and a SHA-256 are stored;
- which addresses are verified says `EmailAddress` of allauth.
"""

import hashlib
import uuid
from typing import Any, ClassVar

from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import QuerySet
from django.db.models.functions import Lower


class UserManager(BaseUserManager["User"]):
    """`create_user` and `create_superuser` without a user name."""

    use_in_migrations = True

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Made at the console: their address counts as verified."""
        from allauth.account.models import EmailAddress  # needs the user model

        user = self.create_user(email, password, is_staff=True, is_superuser=True, **fields)
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        return user

    def with_address(self, email: str) -> "QuerySet[User]":
        """The user with this address, whatever its case. One probe of the unique index."""
        return self.alias(email_lower=Lower("email")).filter(email_lower=email.lower())

    def get_by_natural_key(self, username: str | None) -> "User":
        """As Django's sign-in asks for them."""
        return self.with_address(username or "").get()


class User(AbstractUser):
    """A person. Signs in with an e-mail address; belongs to organizations by Membership."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    language = models.CharField(
        max_length=10,
        blank=True,
        db_default="",
        default="",
        help_text="BCP 47, of the page and of mails; empty: the page as their browser says.",
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_ci_unique")]

    def __str__(self) -> str:
        return self.email

    def get_session_auth_hash(self) -> str:
        """What ties a session to a password: another password ends it, a rotated key does not.

        Without a key (backend/platform/sessions.py says why): of the Argon2 hash with its salt,
        which whoever reads a session does not have.
        """
        return hashlib.sha256(b"parley.session:" + self.password.encode()).hexdigest()

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
    seats = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many people may be members; empty: any number."
    )
    file_bytes = models.BigIntegerField(
        db_default=100_000_000, default=100_000_000, help_text="Files of an organization together."
    )
    batch_lines = models.PositiveIntegerField(
        db_default=1_000, default=1_000, help_text="Requests of one batch."
    )
    open_batches = models.PositiveIntegerField(
        db_default=2, default=2, help_text="Batches of an organization at a time."
    )
    attachment_bytes = models.BigIntegerField(
        db_default=1_000_000_000,
        default=1_000_000_000,
        help_text="What a person has attached to chats, projects and assistants, together.",
    )
    conversations = models.PositiveIntegerField(
        db_default=10_000,
        default=10_000,
        null=True,
        blank=True,
        help_text="Conversations of a person, deleted ones until they are erased; empty: any"
        " number.",
    )
    api_keys = models.PositiveIntegerField(
        db_default=100, default=100, help_text="API keys of an organization that work."
    )

    class Meta:
        ordering = ["queue_priority"]

    def __str__(self) -> str:
        return self.name


class Organization(models.Model):
    """The tenant. Every row elsewhere that holds content or usage names one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, default="free")
    suspended_at = models.DateTimeField(
        null=True, editable=False, help_text="Set while it has an open suspension."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Project(models.Model):
    """A part of an organization that API keys, usage, limits and budgets are grouped by."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="projects"
    )
    name = models.CharField(max_length=200)
    is_default = models.BooleanField(default=False)
    allowed_models = ArrayField(
        models.CharField(max_length=100),
        default=list,
        db_default=[],
        blank=True,
        help_text="The models that its keys may use; none means all.",
    )
    retention_days = models.PositiveIntegerField(
        null=True, blank=True, help_text="Its chats go so many days after the last turn."
    )
    instructions = models.TextField(
        default="",
        db_default="",
        blank=True,
        help_text="What the model reads in each of its chats.",
    )
    logs_requests = models.BooleanField(
        default=True,
        db_default=True,
        help_text="No: requests of its keys are not logged, whatever the organization has.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

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
    VIEWER = "viewer"


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
    parent = models.ForeignKey(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="children",
        help_text="The key that made this one, which ends with it.",
    )
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


class PendingSignUp(models.Model):
    """A sign-up; the account is made when the link in its mail is opened.

    Before that there is no user, so an address is held by its owner only. Of the link only
    a SHA-256 is stored. One exists for a taken address too: nothing tells the two apart, and its
    link was not mailed.
    """

    token_sha256 = models.CharField(max_length=64, unique=True)
    email = models.EmailField()
    name = models.CharField(max_length=200, blank=True)
    password = models.CharField(max_length=128, help_text="Hashed.")
    language = models.CharField(
        max_length=10,
        blank=True,
        db_default="",
        default="",
        help_text="Of the page that they signed up on, which becomes the account's.",
    )
    invitation = models.ForeignKey(
        "accounts.Invitation", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return f"{self.email} at {self.created_at}"


class PendingAddress(models.Model):
    """An address that a user is to confirm: another one, or the one that their account has.

    At most one for each user. Ending all sessions deletes it, another password voids it. Of its
    links only SHA-256s are stored. One exists for a taken address too, whose link was not mailed.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="pending_address")
    email = models.EmailField()
    token_sha256 = models.CharField(max_length=64, unique=True, help_text="Confirms it.")
    stop_sha256 = models.CharField(max_length=64, unique=True, help_text="Stops the change.")
    session_auth_hash = models.CharField(
        max_length=64, help_text="What sessions were tied to when it was asked for."
    )
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return f"{self.email} at {self.created_at}"


class MailState(models.TextChoices):
    QUEUED = "queued"
    SENT = "sent"
    FAILED = "failed"
    OUTBOX = "outbox"


class Mail(models.Model):
    """A mail to a person: waiting, sent, given up, or in the local outbox.

    The text may hold a link that opens an account, so it is encrypted, and gone once it was sent.
    """

    to = models.EmailField()
    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)
    ciphertext = models.TextField(blank=True)
    attachment = models.CharField(
        max_length=100, blank=True, db_default="", help_text="The name of a file in `ciphertext`."
    )
    state = models.CharField(max_length=10, choices=MailState.choices, default=MailState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)
    due_at = models.DateTimeField(null=True, help_text="The next attempt; empty when there is none")
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(state="queued"), name="mail_due"),
            models.Index(fields=["created_at"], name="mail_created"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.to}"
