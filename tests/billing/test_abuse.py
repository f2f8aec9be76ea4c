"""The abuse detector: sees spikes, blocked prompts and shared addresses; counts each event once."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.accounts.principal import Principal
from backend.platform.errors import RateLimited
from billing import events
from billing.abuse import scoring, throttle
from billing.abuse.counting import delete_before
from billing.abuse.detector import detect
from billing.abuse.scoring import Hour
from billing.budgets import reserve
from billing.models import AbuseFlag, AbuseHour, AbusePolicy
from tests.billing import factories
from tests.billing.factories import uuid
from tests.billing.test_ingest import event, messages

NOW = datetime.now(UTC)
tokens = st.integers(0, 10**9)


@settings(deadline=None)
@given(st.lists(tokens, max_size=30), tokens, tokens)
def test_more_tokens_never_score_less(history, first, more):
    assert scoring.spike(Hour(tokens=first + more), history) >= scoring.spike(
        Hour(tokens=first), history
    )


def test_spike_depends_on_the_subjects_own_history():
    busy = [2_000_000] * scoring.HISTORY_HOURS
    assert scoring.spike(Hour(tokens=2_100_000), busy) < 1.1
    assert scoring.spike(Hour(tokens=2_100_000), [500, 700]) > 5
    assert scoring.spike(Hour(tokens=10_000), []) < 1


def test_few_blocked_prompts_are_no_abuse():
    assert scoring.blocked(Hour(requests=9, blocked=9)) == 0
    assert scoring.blocked(Hour(requests=1000, blocked=10)) < 1
    assert scoring.blocked(Hour(requests=30, blocked=15)) > 1


def now_event(n: int, **changes) -> dict:
    return event(n, occurred_at=events.timestamp(NOW), **changes)


@pytest.mark.django_db
class TestDetector:
    def test_events_count_once_however_often_they_come(self):
        batch = messages(*(now_event(n, organization_id=str(uuid(1))) for n in (1, 2, 2, 3)))
        detect(batch)
        detect(batch)
        hour = AbuseHour.objects.get(subject_id=uuid(1))
        assert (hour.requests, hour.tokens) == (3, 3 * (1 + 2 + 3))

    def test_spike_flags_key_and_organization_once(self):
        big = {"input_tokens": 3_000_000, "key_id": str(uuid(4000))}
        assert detect(messages(now_event(3, **big))) == 2
        assert detect(messages(now_event(6, **big))) == 1  # another organization, the same key
        kinds = AbuseFlag.objects.filter(reason="spike").values_list("kind", flat=True)
        assert sorted(kinds) == ["key", "organization", "organization"]

    def test_many_blocked_prompts_are_flagged(self):
        detect(
            messages(
                *(
                    now_event(n, organization_id=str(uuid(1)), key_id=None, state="blocked")
                    for n in range(1, 13)
                )
            )
        )
        flag = AbuseFlag.objects.get()
        assert (flag.reason, flag.details["blocked"]) == ("blocked", 12)

    def test_many_keys_from_one_address_are_flagged(self):
        keys = [str(uuid4()) for _ in range(10)]
        batch = [now_event(n, key_id=key, client_hash="abc") for n, key in enumerate(keys, start=1)]
        assert detect(messages(*batch[:9])) == 0
        assert detect(messages(batch[9])) == 1
        assert AbuseFlag.objects.get().subject_id == UUID(keys[9])

    def test_old_and_invalid_events_flag_no_subject(self):
        old = event(1, input_tokens=9_000_000, occurred_at="2026-01-01T00:00:00Z")
        assert detect(messages(old, b"poison")) == 0

    def test_dismissed_flag_is_not_raised_again_the_same_day(self):
        big = {"input_tokens": 3_000_000, "key_id": None, "organization_id": str(uuid(1))}
        detect(messages(now_event(1, **big)))
        AbuseFlag.objects.update(state="dismissed")
        assert detect(messages(now_event(2, **big))) == 0
        assert AbuseFlag.objects.count() == 1

    def test_counts_older_than_the_scored_window_are_deleted(self):
        detect(messages(event(1, occurred_at="2026-01-01T00:00:00Z")))
        delete_before(NOW)
        assert not AbuseHour.objects.exists()


@sync_to_async
def flagged_caller() -> Principal:
    AbusePolicy.objects.create(reason="spike", throttle=True, requests_per_minute=2, minutes=5)
    caller = factories.principal()
    detect(
        messages(
            now_event(
                1,
                organization_id=str(caller.organization_id),
                key_id=None,
                input_tokens=9_000_000,
            )
        )
    )
    return caller


async def ask(caller: Principal) -> None:
    await reserve(
        principal=caller,
        generation_id=uuid4(),
        model=factories.MODEL,
        input_tokens=1,
        max_output_tokens=1,
    )


@pytest.mark.django_db(transaction=True)
async def test_policy_throttles_flagged_subjects_only():
    caller = await flagged_caller()
    other = await sync_to_async(factories.principal)()
    outcomes = []
    for _ in range(5):  # a minute may end in between: then two more are let through
        try:
            await ask(caller)
            outcomes.append(True)
        except RateLimited as error:
            assert 0 < (error.retry_after or 0) <= 60
            outcomes.append(False)
    assert outcomes[:2] == [True, True]
    assert not all(outcomes)
    for _ in range(5):
        await ask(other)
    await sync_to_async(throttle.stop)(subject_id=caller.organization_id)
    await ask(caller)
    flag = await AbuseFlag.objects.aget()
    assert flag.throttled_until is not None
    assert flag.throttled_until > NOW + timedelta(minutes=4)
