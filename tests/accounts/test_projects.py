"""Projects: who sees, uses and manages them, and what their keys may do."""

import pytest
from django.utils import timezone

from backend.accounts.authentication import _load
from backend.accounts.deletion import user_delete
from backend.accounts.keys import secret_hash
from backend.accounts.models import Organization, Project, Role
from backend.accounts.principal import ModelLimit
from backend.accounts.project_members import (
    project_member_add,
    project_member_remove,
    project_member_role_set,
)
from backend.accounts.project_selectors import (
    project_keys_page,
    project_members_page,
    projects_page,
)
from backend.accounts.projects import (
    project_archive,
    project_create,
    project_limit_delete,
    project_limit_set,
    project_update,
)
from backend.accounts.service_accounts import service_account_create, service_account_delete
from backend.accounts.services import api_key_create
from backend.platform.errors import (
    AuthenticationFailed,
    Conflict,
    InvalidRequest,
    NotFound,
    PermissionDenied,
)
from tests.factories import member

pytestmark = pytest.mark.django_db


def colleague_of(principal, role=Role.MEMBER):
    return member(organization=Organization.objects.get(pk=principal.organization_id), role=role)


def principal_by(secret):
    return _load(secret_hash(secret), timezone.now())[0]


def seen_by(principal):
    page = projects_page(principal=principal, archived=False, after=None, limit=100)
    return [project.name for project in page.items]


def test_member_sees_the_default_project_and_those_they_are_in():
    owner = member()
    ordinary, viewer = colleague_of(owner), colleague_of(owner, Role.VIEWER)
    project = project_create(principal=owner, name="  Search   engine ")
    assert project.name == "Search engine"
    with pytest.raises(PermissionDenied):
        project_create(principal=ordinary, name="mine")

    assert seen_by(ordinary) == ["Default"]
    assert seen_by(owner) == seen_by(viewer) == ["Default", "Search engine"]
    with pytest.raises(NotFound):
        api_key_create(principal=ordinary, name="k", project_id=project.pk)
    with pytest.raises(PermissionDenied):
        api_key_create(principal=viewer, name="k")

    project_member_add(
        principal=owner, project_id=project.pk, user_id=ordinary.user_id, role="member"
    )
    assert seen_by(ordinary) == ["Default", "Search engine"]
    key, _ = api_key_create(principal=ordinary, name="k", project_id=project.pk)
    with pytest.raises(PermissionDenied):
        project_update(principal=ordinary, project_id=project.pk, name="theirs")
    project_member_role_set(
        principal=owner, project_id=project.pk, user_id=ordinary.user_id, role="owner"
    )
    project_update(principal=ordinary, project_id=project.pk, name="Theirs")
    with pytest.raises(PermissionDenied):
        project_archive(principal=ordinary, project_id=project.pk)

    project_member_remove(principal=owner, project_id=project.pk, user_id=ordinary.user_id)
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert seen_by(ordinary) == ["Default"]


def test_rules_of_the_project_come_with_its_keys():
    owner = member()
    project = project_create(principal=owner, name="p")
    _, secret = api_key_create(principal=owner, name="k", project_id=project.pk)
    assert principal_by(secret).project.allows("anything")

    project_update(principal=owner, project_id=project.pk, allowed_models=["b", "a", "a"])
    project_limit_set(
        principal=owner,
        project_id=project.pk,
        model="a",
        requests_per_minute=3,
        tokens_per_minute=50,
    )

    rules = principal_by(secret).project
    assert rules.allowed_models == {"a", "b"}
    assert not rules.allows("c")
    assert rules.limit_of("a") == ModelLimit("a", 3, 50)
    assert rules.limit_of("b") is None
    project_limit_delete(principal=owner, project_id=project.pk, model="a")
    assert principal_by(secret).project.limits == ()
    with pytest.raises(NotFound):
        project_limit_delete(principal=owner, project_id=project.pk, model="a")


def test_archived_project_refuses_its_keys_and_changes():
    owner = member()
    project = project_create(principal=owner, name="p")
    _, secret = api_key_create(principal=owner, name="k", project_id=project.pk)

    project_archive(principal=owner, project_id=project.pk)

    with pytest.raises(AuthenticationFailed):
        principal_by(secret)
    assert seen_by(owner) == ["Default"]
    with pytest.raises(Conflict):
        project_update(principal=owner, project_id=project.pk, name="again")
    with pytest.raises(Conflict):
        api_key_create(principal=owner, name="k", project_id=project.pk)
    default = Project.objects.get(organization_id=owner.organization_id, is_default=True)
    with pytest.raises(Conflict):
        project_archive(principal=owner, project_id=default.pk)


def test_service_account_holds_keys_that_outlive_who_made_it():
    owner = member()
    maker = colleague_of(owner, Role.ADMIN)
    account, key, secret = service_account_create(
        principal=maker, project_id=owner.project_id, name="Crawler"
    )
    caller = principal_by(secret)
    assert (caller.user_id, caller.role) == (account.user_id, Role.MEMBER)
    keys = project_keys_page(
        principal=owner, project_id=owner.project_id, after=None, limit=10
    ).items
    assert [each.pk for each in keys] == [key.pk]
    people = project_members_page(
        principal=owner, project_id=owner.project_id, after=None, limit=10
    ).items
    assert people == []

    service_account_delete(
        principal=owner, project_id=owner.project_id, service_account_id=account.pk
    )
    with pytest.raises(AuthenticationFailed):
        principal_by(secret)


def test_service_accounts_end_with_the_last_person():
    owner = member()
    _, _, secret = service_account_create(
        principal=owner, project_id=owner.project_id, name="Crawler"
    )

    user_delete(user_id=owner.user_id)  # service accounts are no members who need an owner

    with pytest.raises(AuthenticationFailed):
        principal_by(secret)


def test_foreign_projects_and_members_are_not_found_and_bad_values_named():
    owner, outsider = member(), member()
    for attempt in (
        lambda: project_update(principal=outsider, project_id=owner.project_id, name="x"),
        lambda: service_account_create(principal=outsider, project_id=owner.project_id, name="x"),
        lambda: project_member_add(
            principal=owner, project_id=owner.project_id, user_id=outsider.user_id, role="member"
        ),
    ):
        with pytest.raises(NotFound):
            attempt()
    for values, field in (
        ({"allowed_models": [" "]}, "allowed_models"),
        ({"retention_days": -1}, "retention_days"),
        ({"name": " "}, "name"),
    ):
        with pytest.raises(InvalidRequest) as refused:
            project_update(principal=owner, project_id=owner.project_id, **values)
        assert refused.value.param == field
