"""Budgets: what an organization, a project or a key may spend in a calendar month (UTC)."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from backend.accounts.models import APIKey, Organization, Project


class Budget(models.Model):
    """A monthly limit on an organization, one of its projects, or one of its keys.

    Soft budgets only alert; a hard one refuses requests that might exceed it.
    """

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="budgets")
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="budgets"
    )
    key = models.ForeignKey(
        APIKey, null=True, blank=True, on_delete=models.CASCADE, related_name="budgets"
    )
    amount = models.DecimalField(
        max_digits=18,
        decimal_places=2,
        validators=[MinValueValidator(0)],
        help_text="For a month, in the organization's currency.",
    )
    is_hard = models.BooleanField(
        default=False, verbose_name="hard", help_text="Refuse requests that might exceed it."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(project=None) | Q(key=None), name="budget_project_or_key"
            ),
            models.CheckConstraint(condition=Q(amount__gte=0), name="budget_not_negative"),
            models.UniqueConstraint(
                fields=["organization", "project", "key", "is_hard"],
                nulls_distinct=False,
                name="budget_one_of_a_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount} a month for {self.scope}"

    @property
    def scope(self) -> str:
        """What it limits: `organization`, `project` or `key`."""
        if self.key_id is not None:
            return "key"
        return "project" if self.project_id is not None else "organization"


class BudgetAlert(models.Model):
    """A threshold that a budget reached in a month; the row makes sure it is alerted once."""

    THRESHOLDS = (50, 80, 100)

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="alerts")
    month = models.DateField()
    threshold = models.PositiveSmallIntegerField(help_text="Per cent.")
    spent = models.DecimalField(max_digits=30, decimal_places=12)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["budget", "month", "threshold"], name="budget_alert_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.threshold} % of {self.budget} in {self.month:%Y-%m}"
