"""Every generation that ended has one ledger record and one outbox row, or it has neither."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.db.transaction import TransactionManagementError

from billing.models import OutboxEvent, UsageRecord
from billing.services import usage_record_create
from tests.billing import factories

pytestmark = pytest.mark.django_db


def test_record_is_written_with_its_outbox_row():
    facts = factories.facts(factories.principal())
    record = usage_record_create(facts=facts)
    row = OutboxEvent.objects.get(event_id=facts.generation_id)
    assert record.input_tokens == row.payload["input_tokens"] == 100
    assert row.key == str(facts.organization_id)
    assert row.published_at is None


def test_generation_is_metered_once():
    facts = factories.facts(factories.principal())
    usage_record_create(facts=facts)
    with pytest.raises(IntegrityError), transaction.atomic():
        usage_record_create(facts=facts)
    assert UsageRecord.objects.count() == OutboxEvent.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_metering_outside_of_a_transaction_is_refused():
    facts = factories.facts(factories.principal())
    with pytest.raises(TransactionManagementError):
        usage_record_create(facts=facts)
    assert not UsageRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_rolled_back_transaction_leaves_neither_record_nor_outbox_row():
    facts = factories.facts(factories.principal())
    with pytest.raises(RuntimeError), transaction.atomic():
        usage_record_create(facts=facts)
        raise RuntimeError("the message could not be stored")
    assert not UsageRecord.objects.exists()
    assert not OutboxEvent.objects.exists()


def test_generation_that_no_engine_saw_is_free():
    facts = factories.facts(factories.principal(), pool="", state="blocked", output_tokens=0)
    record = usage_record_create(facts=facts)
    assert record.state == "blocked"
    assert (record.input_tokens, record.cached_input_tokens, record.output_tokens) == (0, 0, 0)


def test_text_delivered_before_a_halt_is_metered():
    facts = factories.facts(factories.principal(), state="blocked", output_tokens=7)
    assert usage_record_create(facts=facts).output_tokens == 7


def test_generation_ends_when_upstream_reports_a_part_above_its_whole():
    facts = factories.facts(
        factories.principal(), input_tokens=10, cached_input_tokens=90, output_tokens=-1
    )
    record = usage_record_create(facts=facts)
    assert (record.input_tokens, record.cached_input_tokens) == (10, 10)
    assert record.output_tokens == 0


@pytest.mark.parametrize("write", ["update", "delete"])
def test_ledger_cannot_be_changed(write):
    record = usage_record_create(facts=factories.facts(factories.principal()))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        if write == "update":
            UsageRecord.objects.update(output_tokens=0)
        else:
            record.delete()
    assert UsageRecord.objects.get().output_tokens == 50
