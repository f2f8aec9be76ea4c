"""Invoices: read-only documents, and what may be done with them."""

from datetime import UTC, datetime
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.urls.resolvers import URLPattern
from unfold.admin import TabularInline
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminDecimalFieldWidget, UnfoldAdminTextInputWidget

from backend.accounts.models import User
from backend.audit.services import staff
from backend.platform.errors import ParleyError
from backend.platform.model_admins import ReadOnlyAdmin
from billing.http import document_response
from billing.invoices.services import (
    credit_note_create,
    invoice_issue,
    invoice_pay,
    invoice_void,
)
from billing.models import DocumentKind, Invoice, InvoiceLine, InvoiceStatus

STATUS_LABELS = {"draft": "default", "open": "info", "paid": "success", "void": "danger"}


class CreditNoteForm(forms.Form):
    amount = forms.DecimalField(
        min_value=0, decimal_places=2, widget=UnfoldAdminDecimalFieldWidget, label="Before tax"
    )
    reason = forms.CharField(max_length=300, widget=UnfoldAdminTextInputWidget)


class Lines(TabularInline):
    model = InvoiceLine
    extra = 0
    can_delete = False
    fields = (
        "usage_month",
        "project_name",
        "model",
        "at_project_price",
        "requests",
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_tokens",
        "audio_seconds",
        "spoken_characters",
        "image_tokens",
        "cached_output_tokens",
        "amount",
        "is_late",
    )
    readonly_fields = fields
    ordering = ("position",)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Invoice)
class InvoiceAdmin(ReadOnlyAdmin):
    list_display = (
        "show_reference",
        "organization",
        "kind",
        "show_status",
        "period_start",
        "total",
        "currency",
        "issued_at",
    )
    list_filter = (
        ("status", ChoicesDropdownFilter),
        ("kind", ChoicesDropdownFilter),
        ("organization", AutocompleteSelectFilter),
    )
    list_filter_submit = True
    list_select_related = ("organization",)
    ordering = ("-period_start", "-id")
    fieldsets = (
        (None, {"fields": ("show_reference", "organization", "kind", "show_status")}),
        (
            "Amounts",
            {"fields": ("subtotal", "credit_applied", "tax_rate", "tax", "total", "currency")},
        ),
        (
            "Dates",
            {
                "fields": (
                    "period_start",
                    "period_end",
                    "issued_at",
                    "due_at",
                    "paid_at",
                    "voided_at",
                )
            },
        ),
        ("Correction", {"fields": ("corrects", "reason"), "classes": ["collapse"]}),
    )
    readonly_fields = ("show_reference", "show_status")
    inlines = (Lines,)
    actions_detail = ("issue", "mark_paid", "void", "credit_note", "pdf", "csv")

    @display(description="Number", ordering="number")
    def show_reference(self, invoice: Invoice) -> str:
        return str(invoice)

    @display(description="Status", ordering="status", label=STATUS_LABELS)
    def show_status(self, invoice: Invoice) -> str:
        return invoice.status

    # An action is offered, and carried out, only while the document's status allows it.
    def has_issue_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self._may(request, object_id, InvoiceStatus.DRAFT)

    def has_settle_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self._may(request, object_id, InvoiceStatus.OPEN)

    def has_void_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self._may(request, object_id, InvoiceStatus.OPEN) or self._paid_by_credit(
            request, object_id
        )

    def has_correct_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self._may(request, object_id, InvoiceStatus.OPEN, InvoiceStatus.PAID)

    def _may(self, request: HttpRequest, object_id: Any, *statuses: InvoiceStatus) -> bool:
        if not request.user.has_perm("billing.change_invoice"):
            return False
        return Invoice.objects.filter(pk=object_id, status__in=statuses).exists()

    def _paid_by_credit(self, request: HttpRequest, object_id: Any) -> bool:
        nothing_due = Invoice.objects.filter(kind=DocumentKind.INVOICE, total=0, pk=object_id)
        return self._may(request, object_id, InvoiceStatus.PAID) and nothing_due.exists()

    @action(description="Issue", permissions=["issue"])
    def issue(self, request: HttpRequest, object_id: int) -> HttpResponse:
        return self._do(request, object_id, invoice_issue, "Issued.")

    @action(description="Mark as paid", permissions=["settle"])
    def mark_paid(self, request: HttpRequest, object_id: int) -> HttpResponse:
        return self._do(request, object_id, invoice_pay, "Marked as paid.")

    @action(description="Void", permissions=["void"])
    def void(self, request: HttpRequest, object_id: int) -> HttpResponse:
        done = "Voided: its credit is given back, and the next close bills its usage again."
        return self._do(request, object_id, invoice_void, done)

    @action(description="Credit note", permissions=["correct"])
    def credit_note(self, request: HttpRequest, object_id: int) -> HttpResponse:
        invoice = get_object_or_404(Invoice, pk=object_id)
        form = CreditNoteForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                note = credit_note_create(
                    invoice_id=invoice.pk,
                    amount=form.cleaned_data["amount"],
                    reason=form.cleaned_data["reason"],
                    now=datetime.now(UTC),
                )
            except ParleyError as error:
                form.add_error(None, error.message)
            else:
                messages.success(request, f"Credit note {note} issued.")
                return redirect("admin:billing_invoice_change", note.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Credit note for {invoice}",
            "invoice": invoice,
            "form": form,
        }
        return render(request, "admin/billing/credit_note.html", context)

    @action(description="PDF")
    def pdf(self, request: HttpRequest, object_id: int) -> HttpResponse:
        return redirect("admin:billing_invoice_document", object_id, "pdf")

    @action(description="CSV")
    def csv(self, request: HttpRequest, object_id: int) -> HttpResponse:
        return redirect("admin:billing_invoice_document", object_id, "csv")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self._document)
        return [
            path("<int:invoice_id>/document.<str:kind>", view, name="billing_invoice_document"),
            *super().get_urls(),
        ]

    def _document(self, request: HttpRequest, invoice_id: int, kind: str) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        invoice = get_object_or_404(Invoice, pk=invoice_id)
        return document_response(invoice, kind, actor=staff(cast(User, request.user).pk))

    def _do(self, request: HttpRequest, object_id: int, service: Any, success: str) -> HttpResponse:
        """POST is what unfold's buttons cannot do, so each is confirmed by a page of its own."""
        invoice = get_object_or_404(Invoice, pk=object_id)
        back = reverse("admin:billing_invoice_change", args=[invoice.pk])
        if request.method != "POST":
            context = {
                **self.admin_site.each_context(request),
                "title": f"{service.__name__.removeprefix('invoice_').capitalize()} {invoice}?",
                "invoice": invoice,
                "back": back,
            }
            return render(request, "admin/billing/confirm.html", context)
        try:
            service(invoice_id=invoice.pk, now=datetime.now(UTC))
        except ParleyError as error:
            messages.error(request, error.message)
        else:
            messages.success(request, success)
        return redirect(back)
