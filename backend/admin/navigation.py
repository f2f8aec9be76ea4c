"""The side bar: every registered page that the member of staff may see, by subject.

Built from what is registered, so that a page which an app adds appears without a change here:
those that no group names stand at the end of their app's group.
"""

from dataclasses import dataclass, field
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse


@dataclass(frozen=True, slots=True)
class Group:
    """Attributes:
    icons: model (`app.Model`) -> Material symbol, in the order shown.
    rest_of: apps whose other models follow.
    """

    title: str
    icons: dict[str, str]
    rest_of: tuple[str, ...] = field(default=())


GROUPS = (
    Group(
        "Customers",
        {
            "accounts.Organization": "domain",
            "accounts.User": "person",
            "accounts.APIKey": "key",
            "accounts.Plan": "workspace_premium",
            "accounts.ModelAccess": "lock",
        },
        rest_of=("accounts",),
    ),
    Group(
        "Installation",
        {
            "accounts.SignUpPolicy": "how_to_reg",
            "accounts.Announcement": "campaign",
            "accounts.TermsVersion": "contract",
            "accounts.TermsAcceptance": "task_alt",
        },
    ),
    Group(
        "Data rights",
        {
            "rights.Erasure": "delete_forever",
            "rights.DataExport": "archive",
            "accounts.LegalHold": "gavel",
        },
        rest_of=("rights",),
    ),
    Group(
        "Conversations",
        {
            "conversations.Conversation": "forum",
            "conversations.Message": "chat_bubble",
            "conversations.Feedback": "thumbs_up_down",
            "conversations.ContentAccess": "policy",
        },
        rest_of=("conversations",),
    ),
    Group(
        "Serving",
        {"generation.Generation": "bolt", "generation.Pool": "dns"},
        rest_of=("generation",),
    ),
    Group(
        "Safety",
        {
            "audit.SafetyDecisionRecord": "shield",
            "audit.Review": "rate_review",
            "audit.SafetyPolicy": "gavel",
        },
        rest_of=("audit",),
    ),
    Group(
        "Billing",
        {
            "billing.UsageRecord": "monitoring",
            "billing.Price": "sell",
            "billing.PriceFactor": "percent",
            "billing.Budget": "savings",
            "billing.Invoice": "receipt_long",
            "billing.BillingAccount": "account_balance",
            "billing.CreditEntry": "payments",
            "billing.PlanPrice": "loyalty",
            "billing.TopUp": "add_card",
            "billing.Collection": "credit_score",
            "billing.DunningStep": "notification_important",
            "billing.PaymentEvent": "sync_alt",
            "billing.PaymentReversal": "undo",
            "billing.SurplusPayment": "currency_exchange",
            "billing.ModelCost": "price_check",
            "billing.EngineHour": "dns",
            "billing.AbuseFlag": "flag",
            "billing.AbusePolicy": "tune",
            "billing.BudgetAlert": "notifications",
            "billing.UsageRollup": "bar_chart",
            "billing.OutboxEvent": "outbox",
            "billing.ReconciliationRun": "rule",
            "billing.WebhookEndpoint": "webhook",
            "billing.WebhookDelivery": "send",
        },
        rest_of=("billing",),
    ),
    Group("Staff", {"auth.Group": "groups"}, rest_of=("auth", "api")),
)


_NAMED = {label for group in GROUPS for label in group.icons}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Unfold's `SIDEBAR.navigation`; groups without a page for this person are left out."""
    home = {"title": "Overview", "icon": "dashboard", "link": reverse("admin:index")}
    groups: list[dict[str, Any]] = [{"items": [home]}]
    for group in GROUPS:
        items = [
            _item(request, model, group.icons.get(_label(model), "table_rows"))
            for model in _models(group)
            if _may_view(request, model)
        ]
        if group.title == "Serving" and request.user.has_perm("generation.view_generation"):
            items += [_pools(request), _machine_models(request)]
        if group.title == "Billing" and request.user.has_perm("billing.view_usagerollup"):
            items.insert(0, _report(request))
        if items:
            groups.append({"title": group.title, "separator": True, "items": items})
    return groups


def _pools(request: HttpRequest) -> dict[str, Any]:
    link = reverse("admin:generation_pools")
    is_here = request.path == link
    return {"title": "Replicas", "icon": "monitor_heart", "link": link, "active": is_here}


def _machine_models(request: HttpRequest) -> dict[str, Any]:
    link = reverse("admin:generation_models")
    return {"title": "Models", "icon": "memory", "link": link, "active": request.path == link}


def _report(request: HttpRequest) -> dict[str, Any]:
    link = reverse("admin:billing_reports")
    return {"title": "Finance", "icon": "query_stats", "link": link, "active": request.path == link}


def _models(group: Group) -> list[type[Model]]:
    registered = {_label(model): model for model in admin.site._registry}
    named = [registered[label] for label in group.icons if label in registered]
    rest = [
        model
        for model in registered.values()
        if model._meta.app_label in group.rest_of and _label(model) not in _NAMED
    ]
    return named + sorted(rest, key=_label)


def _item(request: HttpRequest, model: type[Model], icon: str) -> dict[str, Any]:
    meta = model._meta
    link = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    # These pages lie below that of a model, and have their own item.
    elsewhere = request.path in (
        reverse("admin:generation_pools"),
        reverse("admin:generation_models"),
        reverse("admin:billing_reports"),
    )
    return {
        "title": str(meta.verbose_name_plural).capitalize().replace("Api ", "API "),
        "icon": icon,
        "link": link,
        "active": request.path.startswith(link) and not elsewhere,
    }


def _may_view(request: HttpRequest, model: type[Model]) -> bool:
    return admin.site._registry[model].has_view_permission(request)


def _label(model: type[Model]) -> str:
    return model._meta.label
