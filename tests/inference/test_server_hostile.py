"""A request that no honest client sends ends alone, with an error that names what is wrong."""

from __future__ import annotations

import pytest

CHAT = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"top_k": 2**63 - 1, "n": 16, "temperature": 1}, "top_k"),
        ({"top_k": 2**70}, "top_k"),
        ({"priority": 2**64}, "priority"),
        ({"priority": -(2**70)}, "priority"),
    ],
)
def test_number_out_of_bounds_is_refused_by_name(tiny_served, fields, param):
    response = tiny_served.http.post("/v1/chat/completions", json=CHAT | fields)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param
