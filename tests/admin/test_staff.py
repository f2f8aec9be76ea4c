"""The staff groups: each does its work, and none can become another."""

import pytest
from django.contrib.auth.models import Group
from django.contrib.sessions.backends.cached_db import SessionStore
from django.urls import reverse

from backend.accounts.authentication import principal_for_api_key
from backend.accounts.defaults import GROUPS
from backend.accounts.models import APIKey, Membership, Organization, Plan, Role, User
from backend.accounts.sessions import session_record, sessions_list
from backend.audit.models import AuditEvent
from backend.platform.errors import AuthenticationFailed
from tests.admin.conftest import staff
from tests.factories import MembershipFactory, UserFactory, api_key_of, member

pytestmark = pytest.mark.django_db


def user_form(user, **changes):
    return {
        "email": user.email,
        "name": user.name,
        "is_active": "on",
        "memberships-TOTAL_FORMS": "0",
        "memberships-INITIAL_FORMS": "0",
        **changes,
    }


def change_url(row):
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])


def test_groups_have_their_permissions_and_finance_reads_no_content():
    assert set(Group.objects.values_list("name", flat=True)) >= set(GROUPS)
    finance = Group.objects.get(name="Finance").permissions
    assert finance.filter(codename="view_price").exists()
    assert finance.filter(codename="change_price").exists()
    content = finance.filter(content_type__app_label__in=["conversations", "audit"])
    assert not content.exists()
    holders = Group.objects.filter(permissions__codename="view_content")
    assert [group.name for group in holders] == ["Safety reviewers"]


def test_migrate_keeps_changed_limits_and_resets_the_groups(django_db_blocker):
    from django.core.management import call_command

    Plan.objects.filter(slug="free").update(requests_per_minute=7)
    Group.objects.get(name="Finance").permissions.clear()

    call_command("migrate", verbosity=0)

    assert Plan.objects.get(slug="free").requests_per_minute == 7
    assert Group.objects.get(name="Finance").permissions.filter(codename="view_price").exists()


def test_support_locks_a_user_out(client, support):
    user = UserFactory.create(password="correct horse battery")

    answer = client.post(change_url(user), user_form(user, is_active=""))

    assert answer.status_code == 302
    user.refresh_from_db()
    assert not user.is_active
    assert not client.login(username=user.email, password="correct horse battery")


def test_sessions_of_locked_out_user_stay_ended(client, support):
    user = UserFactory.create()
    session = SessionStore()
    session.create()
    key = session.session_key or ""
    session_record(user=user, session_key=key, address="192.0.2.1", user_agent="A browser")

    client.post(change_url(user), user_form(user, is_active=""))
    client.post(change_url(user), user_form(user))

    user.refresh_from_db()
    assert user.is_active
    assert not SessionStore().exists(key)
    assert sessions_list(user_id=user.pk) == []


def test_support_cannot_become_staff_change_addresses_or_passwords(client, support):
    user = UserFactory.create()
    before = User.objects.values().get(pk=user.pk)

    client.post(
        change_url(user),
        user_form(
            user,
            email="mine@example.org",
            is_staff="on",
            is_superuser="on",
            groups=[str(Group.objects.get(name="Safety reviewers").pk)],
        ),
    )
    password = reverse("admin:auth_user_password_change", args=[user.pk])
    answer = client.post(password, {"password1": "correct horse", "password2": "correct horse"})

    assert answer.status_code == 403
    assert User.objects.values().get(pk=user.pk) == before
    assert not user.groups.exists()


def test_support_cannot_touch_other_staff(client, support):
    boss = UserFactory.create(is_staff=True, is_superuser=True)

    assert client.post(change_url(boss), user_form(boss, is_active="")).status_code == 403
    boss.refresh_from_db()
    assert boss.is_active


def test_superuser_sets_a_password(client, superuser):
    user = UserFactory.create()
    url = reverse("admin:auth_user_password_change", args=[user.pk])

    client.post(url, {"password1": "correct horse battery", "password2": "correct horse battery"})

    user.refresh_from_db()
    assert user.check_password("correct horse battery")


def test_user_created_by_staff_has_an_organization(client, superuser):
    answer = client.post(
        reverse("admin:accounts_user_add"),
        {
            "email": "New@Example.org",
            "name": "New",
            "password1": "correct horse battery",
            "password2": "correct horse battery",
            "memberships-TOTAL_FORMS": "0",
            "memberships-INITIAL_FORMS": "0",
        },
    )

    assert answer.status_code == 302
    membership = Membership.objects.get(user__email="new@example.org")
    assert membership.role == Role.OWNER
    assert membership.organization.projects.get().is_default


def test_no_page_shows_a_keys_secret(client, superuser):
    key, secret = api_key_of()
    for url in (reverse("admin:accounts_apikey_changelist"), change_url(key)):
        page = client.get(url).content.decode()
        assert secret not in page
        assert key.sha256 not in page
    assert key.prefix in page


@pytest.mark.django_db(transaction=True)
def test_support_revokes_a_key_at_once(client, support):
    from asgiref.sync import async_to_sync

    key, secret = api_key_of()
    async_to_sync(principal_for_api_key)(secret)

    client.post(
        reverse("admin:accounts_apikey_changelist"),
        {"action": "revoke_selected", "_selected_action": [str(key.pk)]},
    )

    with pytest.raises(AuthenticationFailed):
        async_to_sync(principal_for_api_key)(secret)


def test_key_page_asks_before_it_revokes(client, support):
    key, _ = api_key_of()
    url = reverse("admin:accounts_apikey_revoke", args=[key.pk])

    assert b"Revoke this key?" in client.get(url).content
    assert APIKey.objects.get().revoked_at is None
    client.post(url, {"_form_submitted": "True"})
    assert APIKey.objects.get().revoked_at is not None


@pytest.mark.parametrize("who", ["finance", "reviewer"])
def test_key_is_not_revoked_by_other_staff(client, request, who):
    request.getfixturevalue(who)
    key, _ = api_key_of()

    client.post(
        reverse("admin:accounts_apikey_changelist"),
        {"action": "revoke_selected", "_selected_action": [str(key.pk)]},
    )
    client.post(reverse("admin:accounts_apikey_revoke", args=[key.pk]), {"_form_submitted": "True"})

    key.refresh_from_db()
    assert key.revoked_at is None


def organization_form(organization, memberships):
    rows: dict[str, str] = {}
    for n, (membership, role, delete) in enumerate(memberships):
        rows |= {
            f"memberships-{n}-id": str(membership.pk),
            f"memberships-{n}-organization": str(organization.pk),
            f"memberships-{n}-user": str(membership.user_id),
            f"memberships-{n}-role": role,
        }
        if delete:
            rows[f"memberships-{n}-DELETE"] = "on"
    return {
        "name": organization.name,
        "plan": "premium",
        "memberships-TOTAL_FORMS": str(len(memberships)),
        "memberships-INITIAL_FORMS": str(len(memberships)),
        "projects-TOTAL_FORMS": "0",
        "projects-INITIAL_FORMS": "0",
        "suspensions-TOTAL_FORMS": "0",
        "suspensions-INITIAL_FORMS": "0",
        **rows,
    }


def test_support_changes_the_plan(client, support):
    user = member()
    organization = Organization.objects.get(pk=user.organization_id)

    form = organization_form(organization, [(organization.memberships.get(), "owner", False)])
    answer = client.post(change_url(organization), {**form, "name": "Renamed"})

    assert answer.status_code == 302
    organization.refresh_from_db()
    assert (organization.name, organization.plan_id) == ("Renamed", "premium")
    event = AuditEvent.objects.get(organization_id=organization.pk)
    assert (event.action, event.actor_kind, event.details) == (
        "plan.updated",
        "staff",
        {"plan": "premium"},
    )


@pytest.mark.parametrize(("role", "delete"), [(Role.MEMBER, False), (Role.OWNER, True)])
def test_last_owner_of_an_organization_cannot_be_removed(client, superuser, role, delete):
    membership = MembershipFactory.create()
    form = organization_form(membership.organization, [(membership, role, delete)])

    answer = client.post(change_url(membership.organization), form)

    assert b"at least one owner" in answer.content
    membership.refresh_from_db()
    assert membership.role == Role.OWNER


def test_locked_staff_account_loses_its_session(client):
    user = staff(client, group="Support")
    User.objects.filter(pk=user.pk).update(is_active=False)

    assert client.get("/admin/").status_code == 302
