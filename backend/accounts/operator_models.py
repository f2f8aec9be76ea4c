"""Tables by which the operator of an installation decides who may use it, and under which terms.

Invariants, held by constraints or by the services named:
- an organization has at most one open suspension of each cause, and `Organization.suspended_at` is
  set exactly while it has any (suspension.py);
- there is at most one sign-up policy;
- a published version of the terms is never changed, and a user accepts it once (terms.py).
"""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.core.validators import URLValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone


class SuspensionCause(models.TextChoices):
    OPERATOR = "operator"
    UNPAID = "unpaid", "unpaid invoice"


class Suspension(models.Model):
    """A time in which an organization was, or is, not served."""

    organization = models.ForeignKey(
        "accounts.Organization", on_delete=models.CASCADE, related_name="suspensions"
    )
    cause = models.CharField(max_length=10, choices=SuspensionCause.choices)
    reason = models.CharField(max_length=300, help_text="The customer reads it.")
    began_at = models.DateTimeField(db_default=Now(), editable=False)
    began_by = models.ForeignKey(
        "accounts.User", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(
        "accounts.User", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    end_reason = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-began_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "cause"],
                condition=Q(ended_at=None),
                name="suspension_one_open_of_a_cause",
            )
        ]

    def __str__(self) -> str:
        return f"{self.organization} from {self.began_at:%Y-%m-%d} ({self.cause})"


class SignUpMode(models.TextChoices):
    OPEN = "open", "anybody"
    DOMAIN = "domain", "addresses of the domains below"
    INVITATION = "invitation", "by invitation only"


class SignUpPolicy(models.Model):
    """Who may sign up by themselves. Without a row PARLEY_SIGNUP_OPEN decides."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    mode = models.CharField(max_length=10, choices=SignUpMode.choices, default=SignUpMode.OPEN)
    domains = ArrayField(
        models.CharField(max_length=253),
        default=list,
        blank=True,
        help_text="Separated by commas, such as example.org. Subdomains are not included.",
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "sign-up policy"
        verbose_name_plural = "sign-up policy"
        constraints = [models.CheckConstraint(condition=Q(id=1), name="sign_up_policy_is_one")]

    def __str__(self) -> str:
        return self.get_mode_display()


class ModelAccess(models.Model):
    """Whether a model may be used: by an organization, by a plan, or (neither named) by all.

    The most specific row rules; a model without any is open to all.
    """

    model = models.CharField(max_length=100, help_text="Its id in the pools file, no alias.")
    organization = models.ForeignKey(
        "accounts.Organization",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="model_access",
    )
    plan = models.ForeignKey(
        "accounts.Plan",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="model_access",
    )
    is_allowed = models.BooleanField(default=True, verbose_name="allowed")

    class Meta:
        verbose_name_plural = "model access"
        ordering: ClassVar[list[str]] = ["model", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(organization=None) | Q(plan=None), name="model_access_one_scope"
            ),
            models.UniqueConstraint(
                fields=["model", "organization", "plan"],
                nulls_distinct=False,
                name="model_access_once",
            ),
        ]

    def __str__(self) -> str:
        scope = self.organization or self.plan or "everyone"
        return f"{self.model} for {scope}: {'allowed' if self.is_allowed else 'not allowed'}"


class AnnouncementTone(models.TextChoices):
    INFO = "info", "information"
    WARNING = "warning"


class Announcement(models.Model):
    """A text that the page shows above everything, for a time, to all or to some plans."""

    title = models.CharField(max_length=120)
    text = models.TextField(max_length=1000, blank=True, help_text="Plain text.")
    link = models.URLField(blank=True, validators=[URLValidator(schemes=["https", "http"])])
    tone = models.CharField(
        max_length=8, choices=AnnouncementTone.choices, default=AnnouncementTone.INFO
    )
    starts_at = models.DateTimeField(default=timezone.now, db_index=True)
    ends_at = models.DateTimeField(null=True, blank=True, help_text="Empty: until it is deleted.")
    plans = models.ManyToManyField("accounts.Plan", blank=True, help_text="None: everyone.")
    is_dismissible = models.BooleanField(default=True, verbose_name="dismissible")

    class Meta:
        ordering: ClassVar[list[str]] = ["-starts_at", "-pk"]

    def __str__(self) -> str:
        return self.title


class AnnouncementDismissal(models.Model):
    """A user has closed an announcement; it is not shown to them again."""

    announcement = models.ForeignKey(
        Announcement, on_delete=models.CASCADE, related_name="dismissals"
    )
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["announcement", "user"], name="dismissal_once")
        ]

    def __str__(self) -> str:
        return f"{self.announcement} by {self.user_id}"


class TermsKind(models.TextChoices):
    TERMS = "terms", "terms of service"
    PRIVACY = "privacy", "privacy policy"
    USAGE = "usage", "usage policy"


class TermsVersion(models.Model):
    """One version of the terms or of a policy; of each kind the newest in force counts."""

    kind = models.CharField(max_length=8, choices=TermsKind.choices)
    version = models.CharField(max_length=40, help_text="As it is shown, such as 2026-11.")
    summary = models.TextField(
        max_length=2000, blank=True, help_text="What has changed; shown where it is asked for."
    )
    link = models.URLField(
        validators=[URLValidator(schemes=["https", "http"])], help_text="The whole text."
    )
    effective_at = models.DateTimeField(default=timezone.now, help_text="Asked for from then on.")

    class Meta:
        verbose_name = "version of the terms"
        verbose_name_plural = "versions of the terms"
        ordering: ClassVar[list[str]] = ["-effective_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "version"], name="terms_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.version}"


class TermsAcceptance(models.Model):
    """That a user accepted a version: when, and from which address. Never changed."""

    version = models.ForeignKey(TermsVersion, on_delete=models.PROTECT, related_name="acceptances")
    user = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, related_name="terms_acceptances"
    )
    address = models.GenericIPAddressField(null=True, help_text="Of the client.")
    accepted_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["-accepted_at"]
        constraints = [
            models.UniqueConstraint(fields=["version", "user"], name="terms_accepted_once")
        ]

    def __str__(self) -> str:
        return f"{self.version} by {self.user_id}"
