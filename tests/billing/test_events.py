"""The wire format: what we send is valid, and both readers give every message one verdict."""

import json
from datetime import UTC, datetime

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from billing import events
from billing.models import UsageRecord
from tests.billing.factories import uuid

VALIDATOR = jsonschema.Draft202012Validator(
    events.json_schema(), format_checker=jsonschema.FormatChecker()
)
VALID = {
    "schema": "usage.recorded.v1",
    "event_id": str(uuid(1)),
    "occurred_at": "2026-11-21T12:00:00.5Z",
    "organization_id": str(uuid(2)),
    "project_id": str(uuid(3)),
    "user_id": str(uuid(4)),
    "key_id": None,
    "model": "smollm2-135m",
    "pool": "",
    "input_tokens": 1,
    "cached_input_tokens": 0,
    "output_tokens": 2,
    "state": "completed",
    "ttft_ms": None,
    "duration_ms": 5,
}
# The first draw of text in a process builds tables for seconds; a shared machine is slow besides.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
FIELDS = [*VALID, "client_hash", "something_new"]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.text(max_size=5),
    st.text(min_size=198, max_size=202, alphabet="ab"),
    st.sampled_from(
        ["usage.recorded.v2", "queued", "2026-02-30T00:00:00Z", "2026-11-21T12:00:00+01:00", "abc"]
    ),
    st.uuids().map(str),
    st.datetimes(timezones=st.just(UTC)).map(events.timestamp),
    st.lists(st.integers(), max_size=2),
)


@unhurried
@given(
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=3),
    st.sets(st.sampled_from(FIELDS), max_size=1),
)
@example({}, set())
@example({"occurred_at": "2026-11-21T12:00:00Z"}, set())
@example({"key_id": str(uuid(9)), "something_new": 3}, set())
def test_decoder_and_published_schema_agree(changed, removed):
    message = {k: v for k, v in {**VALID, **changed}.items() if k not in removed}
    valid = VALIDATOR.is_valid(message)
    if valid and any("\x00" in v for v in message.values() if isinstance(v, str)):
        return  # valid by the schema, and refused because PostgreSQL cannot store it
    try:
        events.decode(json.dumps(message).encode())
        accepted = True
    except events.EventRejected:
        accepted = False
    assert accepted == valid


@pytest.mark.parametrize("raw", [b"", b"null", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'"x"'])
def test_invalid_event_is_rejected_with_a_reason(raw):
    with pytest.raises(events.EventRejected) as caught:
        events.decode(raw)
    assert str(caught.value)


def test_event_with_token_kinds_that_have_gone_is_read():
    """Such events stay in the log, and `input_tokens` always held the tokens of images."""
    old = {**VALID, "reasoning_tokens": 3, "image_tokens": 4}
    VALIDATOR.validate(old)
    event = events.decode(json.dumps(old).encode())
    assert (event.input_tokens, event.cached_input_tokens, event.output_tokens) == (1, 0, 2)


@unhurried
@given(
    st.datetimes(min_value=datetime(2000, 1, 1), timezones=st.just(UTC)),
    st.text(min_size=1, max_size=200),
)
def test_published_event_is_valid(moment, model):
    record = UsageRecord(
        generation_id=uuid(1), occurred_at=moment, organization_id=uuid(2), project_id=uuid(3),
        user_id=uuid(4), key_id=uuid(5), model=model, pool="p", input_tokens=3,
        cached_input_tokens=1, output_tokens=2, state="cancelled", ttft_ms=4, duration_ms=5,
    )  # fmt: skip
    VALIDATOR.validate(events.encode(record))
