"""The alarm when the block rate moves: from decisions to the log and to `/metrics`."""

import uuid
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import AsyncClient
from django.utils import timezone
from structlog.testing import capture_logs

from backend.accounts.models import Organization
from backend.platform.database import in_database
from safety.audit.models import SafetyDecisionRecord
from safety.audit.tasks import watch_block_rate


def decisions(*, blocked: int, allowed: int, hours_ago: int) -> None:
    organization = Organization.objects.create(name=uuid.uuid4().hex)
    rows = [
        SafetyDecisionRecord(
            organization=organization,
            stage="prompt",
            action=action,
            layer="lexical",
            policy_version="default-1",
            latency_ms=1.0,
            text_sha256="",
        )
        for action in ["block"] * blocked + ["allow"] * allowed
    ]
    made = SafetyDecisionRecord.objects.bulk_create(rows)
    SafetyDecisionRecord.objects.filter(pk__in=[row.pk for row in made]).update(
        created_at=timezone.now() - timedelta(hours=hours_ago)
    )


async def shown() -> float:
    page = (await AsyncClient().get("/metrics")).content.decode()
    line = next(x for x in page.splitlines() if x.startswith("parley_safety_block_rate_drift "))
    return float(line.split()[1])


@pytest.mark.django_db(transaction=True)
async def test_block_rate_is_logged_and_shown_when_it_moves() -> None:
    await in_database(decisions, blocked=2, allowed=98, hours_ago=30)
    await in_database(decisions, blocked=40, allowed=60, hours_ago=0)
    with capture_logs() as logs:
        drift = await in_database(watch_block_rate)
    assert drift is not None and drift > 4
    [alarm] = [entry for entry in logs if entry["event"] == "safety_block_rate_moved"]
    assert alarm["standard_errors"] == pytest.approx(drift, abs=0.1)
    assert await shown() == pytest.approx(drift)


@pytest.mark.django_db(transaction=True)
async def test_block_rate_is_not_logged_when_it_is_steady() -> None:
    await in_database(decisions, blocked=3, allowed=97, hours_ago=30)
    await in_database(decisions, blocked=3, allowed=97, hours_ago=0)
    with capture_logs() as logs:
        await in_database(watch_block_rate)
    assert [entry for entry in logs if entry["log_level"] == "warning"] == []
    assert await shown() == pytest.approx(0.0)


@pytest.mark.django_db(transaction=True)
async def test_block_rate_drift_is_none_with_too_few_decisions() -> None:
    await in_database(decisions, blocked=10, allowed=0, hours_ago=0)
    assert await in_database(watch_block_rate) is None
    await cache.adelete("safety:block-rate-drift")
    assert await shown() == 0.0
