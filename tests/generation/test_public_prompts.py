"""Only the product's own prompts are cached for all: never a text because a client says so."""

from uuid import UUID

import pytest

from backend.accounts.principal import Principal
from backend.conversations.titles import TITLE_INSTRUCTIONS
from backend.conversations.types import ChatMessage
from backend.generation.pools.continuation import upstream_body
from backend.generation.request import SamplingParams
from infra.load.upstream import SyntheticUpstream
from tests.support.gateway import AMPLE, chat, pools_of

TENANT = Principal(UUID(int=1), UUID(int=2), UUID(int=3), None, "member", AMPLE)
CLAIM = SamplingParams(max_tokens=4, extra={"cache_public_messages": 1})


@pytest.mark.parametrize(
    ("first", "capabilities", "marked"),
    [
        (ChatMessage("system", TITLE_INSTRUCTIONS), ("chat", "public_prefix"), 1),
        (ChatMessage("system", TITLE_INSTRUCTIONS), ("chat",), None),
        (ChatMessage("system", TITLE_INSTRUCTIONS + "."), ("chat", "public_prefix"), None),
        (ChatMessage("user", TITLE_INSTRUCTIONS), ("chat", "public_prefix"), None),
        (ChatMessage("system", "our own"), ("chat", "public_prefix"), None),
    ],
)
def test_only_own_prompts_are_marked_as_public(first, capabilities, marked) -> None:
    upstream = SyntheticUpstream()
    upstream.port = 7001
    [pool] = pools_of(upstream, capabilities=capabilities).models
    request = chat(TENANT, params=CLAIM, messages=[first, ChatMessage("user", "A question")])
    body = upstream_body(request, pool, choice=0, text_so_far="", tokens_so_far=0)
    assert body.get("cache_public_messages") == marked
    assert body["cache_salt"] == str(TENANT.organization_id)
