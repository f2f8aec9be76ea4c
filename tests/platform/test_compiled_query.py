"""A compiled query finds what the same query finds when Django writes it anew."""

import uuid
from uuid import UUID

import pytest
from django.db.models import QuerySet

from backend.accounts.models import Membership, Role
from backend.platform.compiled_query import CompiledQuery
from tests.factories import MembershipFactory


def of_user(user_id: UUID) -> QuerySet[Membership, tuple[object, ...]]:
    mine = Membership.objects.filter(user_id=user_id, role__in=[Role.OWNER, Role.MEMBER])
    return mine.order_by("pk").values_list("organization__name", "role", "created_at")


@pytest.mark.django_db
def test_rows_are_those_of_the_id_that_is_asked_for() -> None:
    first, second = MembershipFactory.create(), MembershipFactory.create(role=Role.MEMBER)
    MembershipFactory.create(user=first.user)
    query = CompiledQuery(of_user)
    for membership in (first, second, first):
        found = [tuple(row) for row in query.rows(membership.user_id)]
        assert found == list(of_user(membership.user_id))
    assert query.rows(uuid.uuid4()) == []


@pytest.mark.django_db
def test_query_that_leaves_the_id_out_is_refused() -> None:
    query = CompiledQuery(lambda _id: Membership.objects.values_list("role"))
    with pytest.raises(ValueError, match="does not ask for an id"):
        query.rows(uuid.uuid4())


@pytest.mark.django_db
def test_query_without_an_id_finds_what_is_there_now() -> None:
    query = CompiledQuery(lambda: Membership.objects.values_list("role"))
    before = len(query.rows())
    MembershipFactory.create()
    assert len(query.rows()) == before + 1
