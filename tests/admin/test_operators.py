"""What operators do from the admin: suspend, reinstate, hold, erase; each with its reason."""

import pytest
from django.urls import reverse

from backend.accounts.models import LegalHold, Organization, Suspension, TermsVersion, User
from backend.rights.models import Erasure
from tests.admin.conftest import staff
from tests.factories import member

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


def test_published_terms_stay_as_they_are(client):
    staff(client, is_superuser=True)
    version = TermsVersion.objects.create(kind="terms", version="1", link="https://example.org")
    page = reverse("admin:accounts_termsversion_change", args=[version.pk])
    assert client.post(page, {"kind": "terms", "version": "2"}).status_code == 403
    assert client.post(page.replace("change", "delete"), {"post": "yes"}).status_code == 403
