"""What plans cost, and what the payment provider and dunning did."""

from django.contrib import admin
from unfold.admin import ModelAdmin

from backend.platform.model_admins import ReadOnlyAdmin
from billing.models import (
    Collection,
    DunningStep,
    PaymentEvent,
    PaymentReversal,
    PlanPrice,
    SurplusPayment,
    TopUp,
)


@admin.register(PlanPrice)
class PlanPriceAdmin(ModelAdmin):
    """A change counts for whoever chooses the plan afterwards; others keep their price."""

    list_display = ("plan", "amount", "currency")
    list_filter = ("plan", "currency")


@admin.register(TopUp)
class TopUpAdmin(ReadOnlyAdmin):
    list_display = ("organization", "amount", "currency", "state", "created_at", "paid_at")
    list_filter = ("state",)
    list_select_related = ("organization",)


@admin.register(PaymentEvent)
class PaymentEventAdmin(ReadOnlyAdmin):
    list_display = ("event_id", "type", "effect", "received_at")
    search_fields = ("event_id", "effect")


@admin.register(PaymentReversal)
class PaymentReversalAdmin(ReadOnlyAdmin):
    list_display = ("reference", "kind", "amount", "currency", "applied", "is_won", "created_at")
    list_filter = ("kind", "is_closed")
    search_fields = ("reference", "payment_id")


@admin.register(SurplusPayment)
class SurplusPaymentAdmin(ReadOnlyAdmin):
    """Payment to be refunded at the provider; the refund's event closes it."""

    list_display = ("payment_id", "organization", "amount", "currency", "reason", "refunded_at")
    list_filter = (("refunded_at", admin.EmptyFieldListFilter),)
    list_select_related = ("organization",)
    search_fields = ("payment_id", "reason")


@admin.register(Collection)
class CollectionAdmin(ReadOnlyAdmin):
    list_display = ("invoice", "attempt", "state", "error", "created_at")
    list_filter = ("state",)
    list_select_related = ("invoice",)
    ordering = ("-created_at",)


@admin.register(DunningStep)
class DunningStepAdmin(ReadOnlyAdmin):
    list_display = ("invoice", "step", "at")
    list_filter = ("step",)
    list_select_related = ("invoice",)
