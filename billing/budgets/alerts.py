"""Threshold alerts: 50, 80 and 100 % of a budget, once each in a month.

Run by beat every minute. It asks the counters in Redis, which is cheap for many organizations,
and the ledger only where a counter is lost or has passed a threshold that was not alerted yet.
The alert's row is the memory: losing Redis repeats no alert.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.utils.translation import gettext, pgettext_lazy

from backend.platform import languages
from backend.platform.redis import sync_client
from billing.accounts import currencies_of, finance_contacts
from billing.budgets.counters import RESERVATIONS, Counter, amount_of
from billing.budgets.limits import counter_name, load_limits
from billing.budgets.spending import rebuild_counters, spent_by_limit
from billing.models import Budget, BudgetAlert
from billing.periods import month_of
from billing.webhooks.events import budget_event

_SCOPES = {
    "organization": pgettext_lazy("budget", "organization"),
    "project": pgettext_lazy("budget", "project"),
    "key": pgettext_lazy("budget", "key"),
}

log = structlog.get_logger(__name__)


def check_budgets(*, now: datetime | None = None) -> list[BudgetAlert]:
    """Alert for every threshold newly reached in this month. Returns the new alerts."""
    now = now or datetime.now(UTC)
    month = month_of(now).start.date()
    budgets = list(Budget.objects.select_related("organization").order_by("organization_id", "pk"))
    alerted = set(BudgetAlert.objects.filter(month=month).values_list("budget_id", "threshold"))
    counted = _counted(budgets, now)
    suspects = [
        budget
        for budget in budgets
        if counted[budget.pk] is None
        or any((budget.pk, t) not in alerted for t in _reached(budget, counted[budget.pk] or 0))
    ]
    alerts = []
    for organization_id in dict.fromkeys(budget.organization_id for budget in suspects):
        of_this = [budget for budget in suspects if budget.organization_id == organization_id]
        spent = _spent(organization_id, of_this, now)
        for budget in of_this:
            reached = [
                t for t in _reached(budget, spent[budget.pk]) if (budget.pk, t) not in alerted
            ]
            alerts += _alert(budget, reached, spent[budget.pk], now)
    return alerts


def _reached(budget: Budget, spent: Decimal | int) -> list[int]:
    return [
        threshold
        for threshold in BudgetAlert.THRESHOLDS
        if spent and spent * 100 >= budget.amount * threshold
    ]


def _counted(budgets: Iterable[Budget], now: datetime) -> dict[int, Decimal | None]:
    """What the counters say, None where one is lost, or may have missed a settlement: it is old,
    and holds reservations that nobody has given back."""
    budgets = list(budgets)
    currencies = currencies_of(budget.organization_id for budget in budgets)
    pipeline = sync_client().pipeline(transaction=False)
    for budget in budgets:
        currency = currencies[budget.organization_id]
        counter = Counter.at(budget.organization_id, currency, counter_name(budget.pk), now)
        pipeline.hmget(counter.keys[0], "spent", "fresh_until")
        pipeline.hget(counter.keys[RESERVATIONS], "sum")
    answers = pipeline.execute()
    counted: dict[int, Decimal | None] = {}
    for budget, (spent, fresh_until), reserved in zip(
        budgets, answers[::2], answers[1::2], strict=True
    ):
        is_old = float(fresh_until or 0) <= now.timestamp()
        is_uncertain = spent is None or (is_old and int(reserved or 0) > 0)
        currency = currencies[budget.organization_id]
        counted[budget.pk] = None if is_uncertain else amount_of(int(spent), currency)
    return counted


def _spent(organization_id: UUID, budgets: list[Budget], now: datetime) -> dict[int, Decimal]:
    """What the ledger says; counters are set right on the way."""
    limits = load_limits(organization_id)
    names = {counter_name(budget.pk): budget.pk for budget in budgets}
    bound = [limit for limit in limits.limits if limit.name in names]
    rebuild_counters(limits, bound, at=now)
    spent = {
        names[limit.name]: amount for limit, amount in spent_by_limit(limits, bound, at=now).items()
    }
    return {budget.pk: spent.get(budget.pk, Decimal(0)) for budget in budgets}


def _alert(
    budget: Budget, thresholds: list[int], spent: Decimal, now: datetime
) -> list[BudgetAlert]:
    """Store and notify; of several thresholds passed at once, every one is stored and the highest
    is mailed."""
    alerts = []
    month = month_of(now).start.date()
    for threshold in thresholds:
        with transaction.atomic():
            alert, is_new = BudgetAlert.objects.get_or_create(
                budget=budget, month=month, threshold=threshold, defaults={"spent": spent}
            )
            if is_new:
                budget_event(alert)
                alerts.append(alert)
    if alerts:
        _mail(alerts[-1])
        log.info(
            "budget_threshold_reached",
            organization_id=str(budget.organization_id),
            budget=budget.pk,
            threshold=alerts[-1].threshold,
        )
    return alerts


def _mail(alert: BudgetAlert) -> None:
    for contact in finance_contacts(alert.budget.organization_id):
        with languages.writing_in(contact.language):
            send_mail(
                subject=gettext("%(percent)d %% of a Parley budget is used up")
                % {"percent": alert.threshold},
                message=_text(alert),
                from_email=settings.DEFAULT_FROM_EMAIL,
                recipient_list=[contact.email],
                fail_silently=True,
            )


def _text(alert: BudgetAlert) -> str:
    budget = alert.budget
    consequence = (
        gettext("Further requests are refused until the month ends or the budget is raised.")
        if budget.is_hard and alert.threshold >= 100
        else gettext("Nothing is refused yet.")
    )
    spent = gettext(
        "%(organization)s: %(spent)s of %(amount)s spent in %(month)s (%(scope)s budget)."
    ) % {
        "organization": budget.organization,
        "spent": languages.number(alert.spent, "#,##0.00"),
        "amount": languages.number(budget.amount, "#,##0.00"),
        "month": languages.month(alert.month),
        "scope": _SCOPES[budget.scope],
    }
    return f"{spent}\n{consequence}\n\n{settings.PUBLIC_URL}/usage\n"
