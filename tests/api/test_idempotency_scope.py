"""An `Idempotency-Key` is its user's own, in one organization."""

import threading
import zlib

import pytest
from django.db import connection, transaction

from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.api.idempotency import Claim, claim_key
from backend.api.models import IdempotencyRecord
from backend.platform.errors import Conflict
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


def test_same_key_and_body_of_a_colleague_runs_anew() -> None:
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


@pytest.mark.django_db(transaction=True)
def test_duplicate_is_refused_when_its_holder_stalls_at_the_start() -> None:
    one = member()
    first = claim(one)
    is_locked, may_end = threading.Event(), threading.Event()

    def stall() -> None:
        with transaction.atomic():
            IdempotencyRecord.objects.select_for_update().get(pk=first.record_id)
            is_locked.set()
            may_end.wait(10)
        connection.close()

    holder = threading.Thread(target=stall)
    holder.start()
    assert is_locked.wait(10)
    try:
        with pytest.raises(Conflict) as refused:
            claim(one)
    finally:
        may_end.set()
        holder.join()
    assert refused.value.code == "idempotency_key_in_use"
    assert claim(one).generation_id == first.generation_id
