"""Many keys from one address: from the API's door, through metering, to the detector's flag."""

from typing import Any

import pytest

from billing.abuse.detector import detect
from billing.abuse.scoring import KEYS_FROM_ONE_ADDRESS
from billing.aggregator.ingest import KafkaRecord
from billing.models import AbuseFlag, AbuseReason
from tests.api.users import Person, program, sign_up
from tests.support.scripted import ScriptedProduct

pytestmark = pytest.mark.timeout(300)


def ask(product: ScriptedProduct, secret: str, address: str) -> None:
    """One completion by a program that a proxy on this machine says to be at `address`."""
    with program(product.url, secret) as client:
        answer = client.post(
            "/v1/chat/completions",
            json={"model": "auto", "messages": [{"role": "user", "content": "Hello"}]},
            headers={"X-Forwarded-For": address},
        )
    assert answer.status_code == 200, answer.text


def events_of(product: ScriptedProduct, person: Person) -> list[dict[str, Any]]:
    rows = product.rows(
        "SELECT payload, payload::text AS text FROM billing_outboxevent WHERE key = %s ORDER BY id",
        [person.organization_id],
    )
    return [{**row["payload"], "text": row["text"]} for row in rows]


@pytest.mark.django_db
def test_many_keys_from_one_address_are_flagged(scripted_product: ScriptedProduct) -> None:
    scripted_product.says("Hello there.")
    person = sign_up(scripted_product.url)
    for number in range(KEYS_FROM_ONE_ADDRESS):
        address = "2001:db8:1:2::7" if number % 2 else "2001:db8:1:2::8"  # one client's /64
        ask(scripted_product, person.new_key()["secret"], address)
    ask(scripted_product, person.new_key()["secret"], "203.0.113.9")

    events = events_of(scripted_product, person)
    assert len({event["key_id"] for event in events}) == KEYS_FROM_ONE_ADDRESS + 1
    crowded, alone = events[0]["client_hash"], events[-1]["client_hash"]
    assert [event["client_hash"] for event in events] == (
        [crowded] * KEYS_FROM_ONE_ADDRESS + [alone]
    )
    assert crowded != alone and len(crowded) == 64
    assert "203.0.113" not in str(events) and "2001:db8" not in str(events)

    detect(
        [
            KafkaRecord("usage.recorded", 0, number, event["text"].encode())
            for number, event in enumerate(events)
        ]
    )
    flags = AbuseFlag.objects.filter(reason=AbuseReason.SHARED_ADDRESS)
    assert {str(flag.subject_id) for flag in flags} == {
        event["key_id"] for event in events if event["client_hash"] == crowded
    }


def test_usage_from_the_page_carries_the_client_hash(scripted_product: ScriptedProduct) -> None:
    scripted_product.says("Hello there.")
    person = sign_up(scripted_product.url)
    conversation = person.new_conversation()
    path = f"/api/conversations/{conversation}/messages"
    assert person.browser.post(path, json={"content": "Hello"}).status_code == 200
    [event] = events_of(scripted_product, person)
    assert len(event["client_hash"]) == 64
