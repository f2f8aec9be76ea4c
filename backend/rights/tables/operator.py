"""Tables whose rows are no subject's: an erasure leaves them, no export holds them."""

from backend.rights.table import Table
from backend.rights.tables.reasons import IDS

_SETTINGS = "The operator's settings."


def _of_no_subject(label: str, why: str) -> Table:
    return Table(label=label, why=why, exported=False)


OPERATOR: tuple[Table, ...] = (
    _of_no_subject("sessions.Session", "Ended through usersessions.UserSession."),
    _of_no_subject("auth.Permission", _SETTINGS),
    _of_no_subject("auth.Group", _SETTINGS),
    _of_no_subject("contenttypes.ContentType", _SETTINGS),
    _of_no_subject("accounts.Plan", _SETTINGS),
    _of_no_subject("generation.Pool", _SETTINGS),
    _of_no_subject("generation.Rollout", _SETTINGS),
    _of_no_subject("accounts.SignUpPolicy", _SETTINGS),
    _of_no_subject("accounts.Announcement", _SETTINGS),
    _of_no_subject("accounts.TermsVersion", _SETTINGS),
    _of_no_subject("billing.AbusePolicy", _SETTINGS),
    _of_no_subject("billing.PriceFactor", _SETTINGS),
    _of_no_subject("billing.PlanPrice", _SETTINGS),
    _of_no_subject("billing.PaymentEvent", IDS),
    _of_no_subject("billing.ModelCost", _SETTINGS),
    _of_no_subject("billing.EngineHour", "What engines did, of all customers together."),
    _of_no_subject("billing.AbuseSeen", IDS),
    _of_no_subject("billing.InvoiceSeries", "The last number of each series of documents."),
    _of_no_subject("billing.AbuseClient", "A keyed hash of an address, for a day."),
    _of_no_subject("billing.UnaggregatedUsage", IDS),
    _of_no_subject("billing.OutboxEvent", "Usage events on their way; deleted a week after."),
    _of_no_subject("billing.ReconciliationRun", IDS),
)
