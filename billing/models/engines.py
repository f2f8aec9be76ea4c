"""What engines did and cost, hour by hour, as they count it themselves."""

from django.db import models


class EngineHour(models.Model):
    """One run of an engine in one hour.

    Seconds and tokens are the hour's own: what the engine had counted at the end of the hour, less
    what it had at the end of the hour before. `input_tokens` holds the cached ones.
    """

    engine_id = models.CharField(max_length=100)
    hour = models.DateTimeField()
    model = models.CharField(max_length=200, help_text="A model as usage names it.")
    name = models.CharField(max_length=200)
    hardware = models.CharField(max_length=200, blank=True)
    region = models.CharField(max_length=200, blank=True)
    hour_price = models.DecimalField(
        max_digits=18, decimal_places=9, null=True, help_text="US dollars; empty: not announced."
    )
    up_s = models.FloatField()
    busy_s = models.FloatField()
    input_tokens = models.BigIntegerField()
    cached_tokens = models.BigIntegerField()
    output_tokens = models.BigIntegerField()
    counted = models.JSONField(help_text="What the engine had counted when it was last seen.")

    class Meta:
        ordering = ["-hour", "model", "name"]
        constraints = [
            models.UniqueConstraint(fields=["engine_id", "hour"], name="engine_hour_once")
        ]
        indexes = [models.Index(fields=["hour"], name="engine_hour_hour")]

    def __str__(self) -> str:
        return f"{self.name} at {self.hour:%Y-%m-%d %H:%M}"
