"""What operators do from the admin: suspend, reinstate, hold, erase; each with its reason."""

from decimal import Decimal

import pytest
from django.urls import reverse

from backend.accounts.model_access import model_is_allowed, model_rules, model_rules_clear
from backend.accounts.models import (
    LegalHold,
    Membership,
    Organization,
    SignUpPolicy,
    Suspension,
    TermsVersion,
    User,
)
from backend.accounts.sign_up import sign_up_begin
from backend.audit.models import AuditEvent
from backend.platform.errors import PermissionDenied
from backend.rights.models import Erasure
from billing.models import PlanPrice
from billing.payments.selectors import billing_overview
from tests.admin.conftest import staff
from tests.factories import MODEL, UserFactory, member

pytestmark = pytest.mark.django_db

SENT = {"_form_submitted": "on"}  # a hidden field of unfold's dialogs


def action(name, organization):
    return reverse(f"admin:accounts_organization_{name}", args=[organization.pk])


def test_support_suspends_with_a_reason_and_reinstates(client, support):
    organization = Organization.objects.get(pk=member().organization_id)
    client.post(action("suspend", organization), {"reason": "", **SENT})
    assert not Suspension.objects.exists()
    client.post(action("suspend", organization), {"reason": "Spam", **SENT})
    suspension = Suspension.objects.get()
    assert (suspension.reason, suspension.began_by_id) == ("Spam", support.pk)
    page = reverse("admin:accounts_organization_change", args=[organization.pk])
    assert "Spam" in client.get(page).content.decode()
    client.post(action("reinstate", organization), {"reason": "Cleared up", **SENT})
    suspension.refresh_from_db()
    assert (suspension.end_reason, suspension.ended_by_id) == ("Cleared up", support.pk)


def test_reviewer_neither_suspends_nor_erases(client, reviewer):
    principal = member()
    organization = Organization.objects.get(pk=principal.organization_id)
    assert (
        client.post(action("suspend", organization), {"reason": "Spam", **SENT}).status_code == 403
    )
    form = {"kind": "user", "subject_id": str(principal.user_id), "reason": "Wish"}
    assert client.post(reverse("admin:rights_erasure_add"), form).status_code == 403
    assert not Suspension.objects.exists() and not Erasure.objects.exists()


def test_superuser_erases_a_user_unless_they_are_held(client, superuser):
    principal = member()
    url = reverse("admin:rights_erasure_add")
    form = {"kind": "user", "subject_id": str(principal.user_id), "reason": "They asked for it"}
    link = reverse("admin:accounts_user_erase", args=[principal.user_id])
    assert client.get(link).headers["Location"].startswith(url)
    assert client.get(client.get(link).headers["Location"]).status_code == 200

    hold = {"user": str(principal.user_id), "organization": "", "reason": "Court of X"}
    client.post(reverse("admin:accounts_legalhold_add"), hold)
    assert LegalHold.objects.get().began_by_id == superuser.pk
    assert "legal hold" in client.post(url, form).content.decode()
    client.get(reverse("admin:accounts_legalhold_end", args=[LegalHold.objects.get().pk]))
    assert LegalHold.objects.get().ended_at is not None

    assert client.post(url, form).status_code == 302
    erasure = Erasure.objects.get(kind="user")
    assert (erasure.reason, erasure.requested_by_id) == ("They asked for it", superuser.pk)
    assert not User.objects.get(pk=principal.user_id).is_active
    page = reverse("admin:rights_erasure_change", args=[erasure.pk])
    assert client.get(page).status_code == 200


def test_members_changed_by_staff_are_in_the_audit_log(client, superuser):
    owner, kept, gone = member(), member(), UserFactory.create()
    organization = Organization.objects.get(pk=owner.organization_id)
    newcomer = UserFactory.create()
    for user_id in (kept.user_id, gone.pk):
        Membership.objects.create(organization=organization, user_id=user_id, role="member")
    page = reverse("admin:accounts_organization_change", args=[organization.pk])
    rows = list(Membership.objects.filter(organization=organization).order_by("pk"))
    form: dict[str, object] = {"name": organization.name, "plan": organization.plan_id}
    for prefix, total in (("memberships", 4), ("projects", 0), ("suspensions", 0)):
        form |= {f"{prefix}-TOTAL_FORMS": total, f"{prefix}-INITIAL_FORMS": min(total, 3)}
    for number, row in enumerate(rows):
        form |= {
            f"memberships-{number}-id": row.pk,
            f"memberships-{number}-organization": organization.pk,
            f"memberships-{number}-user": str(row.user_id),
            f"memberships-{number}-role": "admin" if row.user_id == kept.user_id else row.role,
        }
        if row.user_id == gone.pk:
            form[f"memberships-{number}-DELETE"] = "on"
    form |= {"memberships-3-organization": organization.pk, "memberships-3-role": "viewer"}
    form["memberships-3-user"] = str(newcomer.pk)
    answer = client.post(page, form)
    assert answer.status_code == 302, answer.content.decode()
    log = AuditEvent.objects.filter(organization_id=organization.pk, target_type="user")
    assert {(event.action, event.target_id, event.details["role"]) for event in log} == {
        ("user.added", str(newcomer.pk), "viewer"),
        ("user.updated", str(kept.user_id), "admin"),
        ("user.deleted", str(gone.pk), "member"),
    }
    assert {(event.actor_kind, event.actor_id) for event in log} == {("staff", superuser.pk)}


def test_published_terms_stay_as_they_are(client):
    staff(client, is_superuser=True)
    version = TermsVersion.objects.create(kind="terms", version="1", link="https://example.org")
    page = reverse("admin:accounts_termsversion_change", args=[version.pk])
    assert client.post(page, {"kind": "terms", "version": "2"}).status_code == 403
    assert client.post(page.replace("change", "delete"), {"post": "yes"}).status_code == 403


def test_price_of_a_plan_is_set_in_the_admin_and_shown_to_customers(client, superuser):
    principal = member()
    add = reverse("admin:billing_planprice_add")
    price = {"plan": "standard", "currency": "USD", "amount": "30.00"}
    assert client.post(add, price).status_code == 302
    for wrong in (price, {**price, "currency": "EUR", "amount": "-1"}):  # there is one; negative
        assert client.post(add, wrong).status_code == 200
    assert client.post(add, {**price, "currency": "EUR", "amount": "28"}).status_code == 302
    shown = billing_overview(principal=principal)
    assert [(plan.slug, plan.amount) for plan in shown.plans] == [("standard", Decimal("30.00"))]
    row = PlanPrice.objects.get(currency="USD")
    change = reverse("admin:billing_planprice_change", args=[row.pk])
    assert client.post(change, {**price, "amount": "35.00"}).status_code == 302
    assert billing_overview(principal=principal).plans[0].amount == 35


@pytest.fixture
def model_rules_of_the_test():
    yield
    model_rules_clear()


def test_model_is_closed_to_a_plan_and_opened_to_one_organization_in_the_admin(
    client, superuser, model_rules_of_the_test
):
    one, other = member(), member()
    add = reverse("admin:accounts_modelaccess_add")
    rows = (
        {"plan": "free", "organization": ""},
        {"plan": "", "organization": str(one.organization_id), "is_allowed": "on"},
    )
    for row in rows:
        assert client.post(add, {"model": MODEL, **row}).status_code == 302
    assert [
        model_is_allowed(
            model_rules(), MODEL, region="", organization_id=who.organization_id, plan=who.plan.slug
        )
        for who in (one, other)
    ] == [True, False]


def test_sign_up_is_limited_to_domains_in_the_admin(client, superuser, settings):
    settings.OUTBOX_TOKEN = "outbox"
    add = reverse("admin:accounts_signuppolicy_add")
    assert client.post(add, {"mode": "domain", "domains": "example.org"}).status_code == 302
    assert client.get(add).status_code == 403  # there is one
    password = "correct horse battery staple"
    sign_up_begin(email="a@example.org", password=password)
    with pytest.raises(PermissionDenied) as refused:
        sign_up_begin(email="a@example.com", password=password)
    assert refused.value.code == "signup_domain"
    change = reverse("admin:accounts_signuppolicy_change", args=[SignUpPolicy.objects.get().pk])
    assert client.post(change, {"mode": "open", "domains": ""}).status_code == 302
    sign_up_begin(email="a@example.com", password=password)
