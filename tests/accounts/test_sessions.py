"""A signed-in user is in one organization at a time, and only in their own."""

import uuid

import pytest
from asgiref.sync import sync_to_async

from backend.accounts.authentication import principal_for_session
from backend.accounts.models import Organization, Project, ProjectRateLimit, Role
from backend.accounts.principal import ModelLimit
from backend.accounts.selectors import membership_get, memberships_list
from backend.platform.errors import NotFound, PermissionDenied
from tests.factories import MembershipFactory, OrganizationFactory, UserFactory


def two_organizations():
    user = UserFactory.create()
    first = MembershipFactory.create(user=user, role=Role.OWNER)
    second = MembershipFactory.create(
        user=user, role=Role.MEMBER, organization=OrganizationFactory.create(plan_id="premium")
    )
    return user, first, second


@pytest.mark.django_db(transaction=True)
async def test_organization_is_the_first_joined_without_a_choice():
    user, first, _ = await sync_to_async(two_organizations)()

    principal = await principal_for_session(user, None)

    assert principal.organization_id == first.organization_id
    assert principal.key_id is None
    assert not principal.scopes


@pytest.mark.django_db(transaction=True)
async def test_chosen_organization_decides_role_plan_and_project():
    user, _, second = await sync_to_async(two_organizations)()

    principal = await principal_for_session(user, second.organization_id)

    assert principal.organization_id == second.organization_id
    assert principal.role == Role.MEMBER
    assert principal.plan.slug == "premium"


@pytest.mark.django_db(transaction=True)
async def test_role_and_project_are_the_users_own_among_colleagues_and_projects():
    user, first, second = await sync_to_async(two_organizations)()
    for membership in (first, second):
        role = Role.MEMBER if membership is first else Role.OWNER
        await sync_to_async(MembershipFactory.create)(
            organization=membership.organization, role=role
        )
        await Project.objects.acreate(organization=membership.organization, name="Another")
        default = await Project.objects.aget(
            organization_id=membership.organization_id, is_default=True
        )
        await ProjectRateLimit.objects.acreate(
            project=default,
            model=f"{membership.role}s-model",
            requests_per_minute=membership.pk,
            tokens_per_minute=2,
        )

    for membership in (first, second):
        principal = await principal_for_session(user, membership.organization_id)

        default = await Project.objects.aget(
            organization_id=membership.organization_id, is_default=True
        )
        assert principal.role == membership.role
        assert principal.project_id == default.pk
        model = f"{membership.role}s-model"
        assert principal.project.limits == (ModelLimit(model, membership.pk, 2),)


@pytest.mark.django_db(transaction=True)
async def test_foreign_choice_falls_back_to_the_users_own_organization():
    user, first, _ = await sync_to_async(two_organizations)()
    foreign = await sync_to_async(OrganizationFactory.create)()

    principal = await principal_for_session(user, foreign.pk)

    assert principal.organization_id == first.organization_id


@pytest.mark.django_db(transaction=True)
async def test_user_without_an_organization_has_no_rights():
    user = await sync_to_async(UserFactory.create)()

    with pytest.raises(PermissionDenied):
        await principal_for_session(user, None)


@pytest.mark.django_db
def test_only_own_organizations_can_be_switched_to():
    user, first, second = two_organizations()
    foreign = MembershipFactory.create()

    assert [m.pk for m in memberships_list(user_id=user.pk)] == [first.pk, second.pk]
    assert membership_get(user_id=user.pk, organization_id=second.organization_id) == second
    for organization_id in (foreign.organization_id, uuid.uuid4()):
        with pytest.raises(NotFound):
            membership_get(user_id=user.pk, organization_id=organization_id)


@pytest.mark.django_db
def test_every_organization_starts_on_a_plan_that_exists():
    assert Organization.objects.create(name="New").plan.name == "Free"
