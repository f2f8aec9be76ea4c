"""An `Idempotency-Key` is its user's own, in one organization."""

import zlib

import pytest

from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.api.idempotency import Claim, claim_key
from backend.api.models import IdempotencyRecord
from tests.factories import MembershipFactory, member, principal_of

pytestmark = pytest.mark.django_db


def claim(caller: Principal) -> Claim:
    return claim_key(
        organization_id=caller.organization_id,
        user_id=caller.user_id,
        key="order-1",
        fingerprint="f" * 64,
        holder="h",
    )


def test_a_colleague_with_the_same_key_and_body_is_not_shown_the_answer() -> None:
    one = member()
    colleague = member(organization=Organization.objects.get(pk=one.organization_id))
    first = claim(one)
    IdempotencyRecord.objects.filter(pk=first.record_id).update(body=zlib.compress(b"private"))

    assert claim(one).body is not None
    theirs = claim(colleague)
    assert theirs.body is None
    assert theirs.generation_id != first.generation_id


def test_one_user_in_two_organizations_has_two_answers() -> None:
    one = member()
    elsewhere = principal_of(MembershipFactory.create(user_id=one.user_id, user=None))
    assert claim(one).generation_id != claim(elsewhere).generation_id
