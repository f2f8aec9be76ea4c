"""Holds the conversations of a trace with whatever answers, and counts what came of it."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from uuid import UUID

from backend.accounts.principal import PlanLimits, Principal
from backend.conversations.types import ChatMessage
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolConfig, ReplicaConfig
from backend.generation.pools.continuation import CHAT_PATH
from backend.generation.pools.prefixes import prefix_of
from backend.generation.pools.replicas import Replica, ReplicaSet
from backend.generation.request import GenerationRequest
from infra.load.routing.engines import MODEL
from infra.load.routing.trace import ANSWER_TOKENS, Conversation

_AT_ONCE = 8


@dataclass(slots=True)
class Measured:
    """What came of one trace. `later`: requests after a conversation's first; `found`: those of
    them whose conversation was cached where they went."""

    ttft_s: list[float] = field(default_factory=list)
    later: int = 0
    found: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    took_s: float = 0.0


async def converse(
    policy: str, addresses: Sequence[str], conversations: Sequence[Conversation], salt: str
) -> Measured:
    """Hold all conversations, some at once.

    Args:
        policy: the gateway's, which chooses among `addresses`.
        salt: begins every prompt, so that nothing is cached from another run. Not `cache_salt`:
            a router in between need not pass on what it does not know.
    """
    replicas = ReplicaSet(_pool(policy, addresses))
    for replica in replicas.replicas:
        replica.mark(True, "")
    client, measured = UpstreamClient(), Measured()
    places = asyncio.Semaphore(_AT_ONCE)

    async def hold(conversation: Conversation) -> None:
        async with places:
            await _hold(client, replicas, conversation, salt, measured)

    began = time.monotonic()
    await asyncio.gather(*(hold(conversation) for conversation in conversations))
    measured.took_s = time.monotonic() - began
    client.close()
    return measured


async def _hold(
    client: UpstreamClient,
    replicas: ReplicaSet,
    conversation: Conversation,
    salt: str,
    measured: Measured,
) -> None:
    messages = [ChatMessage("system", f"{salt} {conversation.system}")]
    for turn, question in enumerate(conversation.questions):
        await asyncio.sleep(conversation.pauses_s[turn])
        messages.append(ChatMessage("user", question))
        request = GenerationRequest(
            principal=_PRINCIPAL, request_id="r", endpoint="chat", model="m", messages=messages
        )
        replica = replicas.choose(weight=1, affinity=prefix_of(request), over_limit=True)
        assert replica is not None
        replica.outstanding += 1
        try:
            answer = await _ask(client, replica, messages, conversation.id, measured)
        finally:
            replica.outstanding -= 1
        messages.append(ChatMessage("assistant", answer))


async def _ask(
    client: UpstreamClient,
    replica: Replica,
    messages: list[ChatMessage],
    session: str,
    measured: Measured,
) -> str:
    """The answer to one turn. `session` goes along as the request's id: vllm-router's
    consistent_hash keeps together what has the same."""
    began = time.monotonic()
    body = {
        "model": MODEL,
        "messages": [{"role": one.role, "content": one.content} for one in messages],
        "max_tokens": ANSWER_TOKENS,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    stream = await client.open(replica.config, CHAT_PATH, body, request_id=session, usage_key="")
    text, usage = "", None
    while chunks := await stream.chunks():
        for chunk in chunks:
            if chunk.text and not text:
                measured.ttft_s.append(time.monotonic() - began)
            text += chunk.text
            usage = chunk.usage or usage
    await stream.close()
    if usage is not None:
        measured.prompt_tokens += usage.input_tokens
        measured.cached_tokens += usage.cached_input_tokens
        measured.output_tokens += usage.output_tokens
        if messages[-2].role == "assistant":
            measured.later += 1
            # What a later turn adds is a small part; a miss has the system prompt at most.
            measured.found += usage.cached_input_tokens > 0.5 * usage.input_tokens
    return text


_PRINCIPAL = Principal(
    organization_id=UUID(int=1),
    project_id=UUID(int=1),
    user_id=UUID(int=1),
    key_id=None,
    role="member",
    plan=PlanLimits("standard", 5, 1_000_000, 1_000_000_000, 10_000),
)


def _pool(policy: str, addresses: Sequence[str]) -> PoolConfig:
    pool = PoolConfig(
        id="bench",
        name="bench",
        aliases=(),
        context_window=8192,
        max_output_tokens=64,
        capabilities=("chat",),
        upstream_model=MODEL,
        max_concurrency=64,
        price_per_1k={"input": Decimal(0), "cached_input": Decimal(0), "output": Decimal(0)},
        sampling={},
        dialect="vllm",
        replicas=tuple(ReplicaConfig(f"e{n}", url) for n, url in enumerate(addresses)),
    )
    return replace(pool, routing=policy)
