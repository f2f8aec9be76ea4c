"""Two salts: the product's own prompt is cached for all, a tenant's text for that tenant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.inference.conftest import greedy, make_driver
from tests.inference.serving import Served
from tests.inference.test_families import PROMPTS, make_folder

OWN = "You name conversations. Answer with a title of at most five words, and nothing else."
SECRET = "Our merger with Acme is signed on Monday, at eleven o'clock, in Zurich."


def test_blocks_of_public_tokens_are_found_with_any_salt_and_others_with_their_own(tmp_path):
    make_folder("llama", tmp_path)
    driver = make_driver(tmp_path)

    def cached(salt: str, public_tokens: int) -> int:
        sampling = greedy(max_tokens=2, ignore_eos=True)
        request_id = driver.add(PROMPTS[0], sampling, salt=salt, public_tokens=public_tokens)
        driver.run()
        return driver.cached[request_id]

    assert cached("a", 40) == 0
    assert cached("b", 40) == 32, "two whole blocks of the 40 tokens"
    assert cached("a", 40) == 48
    assert cached("b", 47) == 48, "the same two blocks, and what this tenant sent itself"
    assert cached("c", 0) == 0


def ask(served: Served, salt: str, text: str, own: str = OWN, **fields: Any) -> dict[str, int]:
    messages = [{"role": "system", "content": own}, {"role": "user", "content": text}]
    body = {"messages": messages, "max_tokens": 2, "cache_salt": salt, **fields}
    response = served.http.post("/v1/chat/completions", json=body)
    assert response.status_code == 200, response.text
    return response.json()["usage"]["prompt_tokens_details"]


def test_other_tenants_text_cannot_be_found_by_cached_tokens(tiny_served):
    public: dict[str, Any] = {"cache_public_messages": 1}
    ask(tiny_served, "victim", SECRET, **public)
    in_own = len(OWN) // 16 * 16  # tokens are bytes, and the template writes the role before
    for index, tried in enumerate((SECRET, SECRET[:32], SECRET[:-1] + "?", "x")):
        found = ask(tiny_served, f"attacker-{index}", tried, **public)["cached_tokens"]
        assert in_own - 16 <= found <= len(f"system: {OWN}")
        assert ask(tiny_served, f"another-{index}", tried)["cached_tokens"] == 0
    assert ask(tiny_served, "victim", SECRET, **public)["cached_tokens"] > len(f"system: {OWN}")
    # Nor is what one tenant called public anything but the text itself.
    ask(tiny_served, "victim", "x", own=SECRET * 2)
    assert ask(tiny_served, "attacker", "x", own=SECRET * 2, **public)["cached_tokens"] == 0


@pytest.mark.parametrize("count", [2, 3])
def test_messages_of_users_are_never_public(tiny_served, count):
    body = {
        "messages": [{"role": "system", "content": OWN}, {"role": "user", "content": SECRET}],
        "cache_public_messages": count,
    }
    response = tiny_served.http.post("/v1/chat/completions", json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "cache_public_messages"
