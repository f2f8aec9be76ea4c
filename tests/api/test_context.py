"""The request id that a client chooses is kept only when it is harmless."""

import pytest

from backend.api.context import request_id_from


@pytest.mark.parametrize("given", ["a", "req-1", "01HXYZ.trace_7", "A" * 128])
def test_request_id_is_kept_when_well_formed(given):
    assert request_id_from(given) == given


@pytest.mark.parametrize(
    "given", [None, "", "-a", "a b", "a\nb", "a\r\nSet-Cookie: x=1", "é", "A" * 129, '{"a":1}']
)
def test_request_id_is_replaced_when_malformed(given):
    made = request_id_from(given)
    assert made != given and made.startswith("req_") and len(made) == 36
