"""Invitations: links that expire, are revoked, and outlive nobody's right to give them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.deletion import user_delete
from backend.accounts.invitations import (
    ProjectPlace,
    invitation_accept,
    invitation_create,
    invitation_read,
    invitation_revoke,
)
from backend.accounts.members import member_remove, member_role_set
from backend.accounts.models import Invitation, Mail, Organization, Role, User
from backend.accounts.team_models import ProjectMember
from backend.accounts.team_selectors import invitations_page
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied
from tests.factories import ProjectFactory, UserFactory, member

pytestmark = pytest.mark.django_db


def token_of(url):
    return url.partition("#")[2]


def organization_of(principal):
    return Organization.objects.get(pk=principal.organization_id)


def test_link_makes_a_member_once_and_of_the_projects():
    owner = member()
    project = ProjectFactory.create(organization=organization_of(owner))
    invitation, url = invitation_create(
        principal=owner, role=Role.FINANCE, projects=[ProjectPlace(project.pk, "owner")]
    )
    assert token_of(url) not in str(vars(invitation))  # a hash only

    joined = invitation_accept(token=token_of(url), user_id=member().user_id)

    assert (joined.organization_id, joined.role) == (owner.organization_id, Role.FINANCE)
    assert ProjectMember.objects.get().role == "owner"
    with pytest.raises(NotFound):
        invitation_accept(token=token_of(url), user_id=member().user_id)


def test_mailed_link_is_for_its_address_alone():
    owner, other = member(), member()
    invitee = UserFactory.create(email="ada@example.org")
    unverified = UserFactory.create(email="bob@example.org", verified=False)

    _, url = invitation_create(principal=owner, role=Role.MEMBER, email="Ada@example.org")
    _, to_bob = invitation_create(principal=owner, role=Role.MEMBER, email="bob@example.org")

    with pytest.raises(PermissionDenied):
        invitation_accept(token=token_of(url), user_id=other.user_id)
    with pytest.raises(PermissionDenied):
        invitation_accept(token=token_of(to_bob), user_id=unverified.pk)
    assert invitation_accept(token=token_of(url), user_id=invitee.pk).user == invitee


def test_same_is_stored_and_mailed_for_known_and_unknown_addresses():
    owner = member()
    UserFactory.create(email="known@example.org")

    answers = [
        invitation_create(principal=owner, role=Role.MEMBER, email=email)[0]
        for email in ("known@example.org", "unknown@example.org")
    ]

    assert {a.status for a in answers} == {"pending"}
    assert Mail.objects.filter(kind="invitation").count() == 2


def test_link_that_is_revoked_or_expired_opens_nothing():
    owner = member()
    revoked, revoked_url = invitation_create(principal=owner, role=Role.MEMBER)
    expired, expired_url = invitation_create(principal=owner, role=Role.MEMBER)
    invitation_revoke(principal=owner, invitation_id=revoked.pk)
    Invitation.objects.filter(pk=expired.pk).update(expires_at=timezone.now())

    for url in (revoked_url, expired_url):
        with pytest.raises(NotFound):
            invitation_read(token=token_of(url))
    shown = invitations_page(principal=owner, after=None, limit=10).items
    assert [each.status for each in shown] == ["expired", "revoked"]
    with pytest.raises(NotFound):
        invitation_revoke(principal=member(), invitation_id=expired.pk)


def test_only_owners_invite_owners_and_a_demoted_owners_invitations_end():
    owner, second = member(), None
    second = member(organization=organization_of(owner))
    admin = member(organization=organization_of(owner), role=Role.ADMIN)
    with pytest.raises(PermissionDenied):
        invitation_create(principal=admin, role=Role.OWNER)
    _, of_owner = invitation_create(principal=second, role=Role.OWNER)
    _, of_member = invitation_create(principal=second, role=Role.MEMBER)

    member_role_set(principal=owner, user_id=second.user_id, role=Role.ADMIN)
    with pytest.raises(NotFound):
        invitation_read(token=token_of(of_owner))
    assert invitation_read(token=token_of(of_member)).role == Role.MEMBER

    member_remove(principal=owner, user_id=second.user_id)
    with pytest.raises(NotFound):
        invitation_read(token=token_of(of_member))


def test_invitation_of_a_deactivated_or_deleted_maker_opens_nothing():
    owner = member()
    maker = member(organization=organization_of(owner), role=Role.ADMIN)
    _, url = invitation_create(principal=maker, role=Role.MEMBER)
    assert invitation_read(token=token_of(url))

    User.objects.filter(pk=maker.user_id).update(is_active=False)
    with pytest.raises(NotFound):
        invitation_read(token=token_of(url))

    User.objects.filter(pk=maker.user_id).update(is_active=True)
    user_delete(user_id=maker.user_id)
    with pytest.raises(NotFound):
        invitation_read(token=token_of(url))


def test_bad_invitations_are_refused_by_field():
    owner = member()
    foreign = ProjectFactory.create()
    organization_of(owner)
    for wrong, field in (
        ({"email": "nobody"}, "email"),
        ({"days": 0}, "expires_in_days"),
        ({"max_uses": 0}, "max_uses"),
        ({"email": "a@example.org", "max_uses": 2}, "max_uses"),
        ({"projects": [ProjectPlace(foreign.pk, "member")]}, "projects"),
        ({"projects": [ProjectPlace(owner.project_id, "king")]}, "projects"),
    ):
        with pytest.raises((InvalidRequest, NotFound)) as refused:
            invitation_create(principal=owner, role=Role.MEMBER, **wrong)
        assert refused.value.param == field


def test_member_and_invited_person_are_not_invited_again():
    owner = member()
    colleague = UserFactory.create()
    _, url = invitation_create(principal=owner, role=Role.MEMBER, email=colleague.email)
    with pytest.raises(Conflict):
        invitation_create(principal=owner, role=Role.MEMBER, email=colleague.email)
    invitation_accept(token=token_of(url), user_id=colleague.pk)

    with pytest.raises(Conflict):
        invitation_create(principal=owner, role=Role.MEMBER, email=colleague.email)
    _, link = invitation_create(principal=owner, role=Role.OWNER)
    with pytest.raises(Conflict):
        invitation_accept(token=token_of(link), user_id=colleague.pk)


def test_pages_of_invitations_go_on_where_they_ended():
    owner, outsider = member(), member()
    for _ in range(5):
        invitation_create(principal=owner, role=Role.MEMBER)
    Invitation.objects.update(created_at=timezone.now() - timedelta(days=1))  # all at one moment

    seen, after = [], None
    while True:
        page = invitations_page(principal=owner, after=after, limit=2)
        seen += [each.pk for each in page.items]
        if page.next_cursor is None:
            break
        after = page.next_cursor

    assert len(seen) == len(set(seen)) == 5
    for wrong in ("not an id", str(seen[0])):
        caller = outsider if wrong != "not an id" else owner
        with pytest.raises(InvalidRequest):
            invitations_page(principal=caller, after=wrong, limit=2)
