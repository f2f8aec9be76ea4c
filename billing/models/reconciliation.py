"""What reconciliation found, each time it ran."""

from django.db import models
from django.db.models.functions import Now


class ReconciliationRun(models.Model):
    """One comparison of ledger, event store and rollups over a span of hours."""

    started_at = models.DateTimeField(db_default=Now(), editable=False)
    start = models.DateTimeField()
    end = models.DateTimeField()
    lag_s = models.FloatField(verbose_name="lag (s)")
    differing = models.PositiveIntegerField(help_text="Organization hours that differ.")
    republished = models.PositiveIntegerField(help_text="Events sent again.")
    details = models.JSONField(default=list, help_text="The first differences.")

    class Meta:
        ordering = ["-started_at"]
        indexes = [models.Index(fields=["-started_at"], name="reconciliation_recent")]

    def __str__(self) -> str:
        return f"{self.started_at:%Y-%m-%d %H:%M}: {self.differing} differ"

    @property
    def is_clean(self) -> bool:
        return self.differing == 0
