"""Routing policies on one trace of conversations: `python -m infra.load.routing`.

Four real engines with small caches, asked by the gateway's own client and policies; between them
the conversations of one trace, each turn sent when the answer before it has come. All engines
begin each policy with empty caches (another `cache_salt`). Printed for each policy: the share of
later turns that found their conversation cached, cached tokens, time to the first token, tokens a
second, and the busiest replica's share of all requests over a fair one.

The lengths are drawn as in ShareGPT's conversations, scaled to what one processor computes:
log-normal, questions of median 25 tokens and answers of up to 16, three to five turns; half of the
conversations share one long system prompt.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import httpx

from backend.accounts.principal import PlanLimits, Principal
from backend.conversations.types import ChatMessage
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolConfig, ReplicaConfig
from backend.generation.pools.continuation import CHAT_PATH
from backend.generation.pools.prefixes import prefix_of
from backend.generation.pools.replicas import Replica, ReplicaSet
from backend.generation.request import GenerationRequest
from infra.services.ports import free_port
from infra.services.process import end_tree

_WEIGHTS = Path("var/models/SmolLM2-135M-Instruct.Q4_1.gguf")
_WORDS = ["river", "stone", "light", "house", "garden", "letter", "music", "winter", "market"]
_SYSTEM = "You answer with care, in few words, and say so when you do not know. " * 24
_AT_ONCE = 8
_READY_S = 180.0


@dataclass(frozen=True, slots=True)
class Conversation:
    """`questions` are asked one after the other; `pauses_s` before each."""

    system: str
    questions: tuple[str, ...]
    pauses_s: tuple[float, ...]


@dataclass(slots=True)
class Measured:
    """What one policy did."""

    ttft_s: list[float] = field(default_factory=list)
    later: int = 0
    found: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    took_s: float = 0.0


def trace(count: int, seed: int) -> list[Conversation]:
    """The same for every policy."""
    chance = random.Random(seed)  # noqa: S311
    return [
        Conversation(
            system=_SYSTEM if number % 2 else "",
            questions=tuple(
                f"({number}.{turn}) " + " ".join(chance.choices(_WORDS, k=_words(chance)))
                for turn in range(chance.randint(3, 5))
            ),
            pauses_s=tuple(chance.expovariate(5.0) for _ in range(5)),
        )
        for number in range(count)
    ]


def _words(chance: random.Random) -> int:
    return min(300, max(5, int(chance.lognormvariate(3.6, 0.9))))


async def run_policy(
    policy: str, engines: Sequence[ReplicaConfig], conversations: Sequence[Conversation], seed: int
) -> Measured:
    """All conversations, some at once, by one policy."""
    pool = _pool(policy, engines)
    replicas = ReplicaSet(pool)
    for replica in replicas.replicas:
        replica.mark(True, "")
    client, measured = UpstreamClient(), Measured()
    places = asyncio.Semaphore(_AT_ONCE)
    salt = f"{policy}-{seed}-{time.time_ns()}"

    async def hold(number: int, conversation: Conversation) -> None:
        async with places:
            await _converse(client, replicas, conversation, number, salt, measured)

    began = time.monotonic()
    await asyncio.gather(*(hold(n, one) for n, one in enumerate(conversations)))
    measured.took_s = time.monotonic() - began
    client.close()
    return measured


async def _converse(
    client: UpstreamClient,
    replicas: ReplicaSet,
    conversation: Conversation,
    number: int,
    salt: str,
    measured: Measured,
) -> None:
    messages = [ChatMessage("system", conversation.system)] if conversation.system else []
    for turn, question in enumerate(conversation.questions):
        await asyncio.sleep(conversation.pauses_s[turn])
        messages.append(ChatMessage("user", question))
        request = GenerationRequest(
            principal=_PRINCIPAL, request_id="r", endpoint="chat", model="m", messages=messages
        )
        replica = replicas.choose(weight=1, affinity=prefix_of(request), over_limit=True)
        assert replica is not None
        measured.requests[replica.name] += 1
        replica.outstanding += 1
        try:
            answer = await _ask(client, replica, messages, salt, measured, is_later=turn > 0)
        finally:
            replica.outstanding -= 1
        messages.append(ChatMessage("assistant", answer))


async def _ask(
    client: UpstreamClient,
    replica: Replica,
    messages: list[ChatMessage],
    salt: str,
    measured: Measured,
    *,
    is_later: bool,
) -> str:
    began = time.monotonic()
    body = {
        "model": "bench",
        "messages": [{"role": one.role, "content": one.content} for one in messages],
        "max_tokens": 16,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_salt": salt,
    }
    stream = await client.open(replica.config, CHAT_PATH, body, request_id="r", usage_key="")
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
        if is_later:
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


def _pool(policy: str, engines: Sequence[ReplicaConfig]) -> PoolConfig:
    pool = PoolConfig(
        id="bench",
        name="bench",
        aliases=(),
        context_window=8192,
        max_output_tokens=64,
        capabilities=("chat",),
        upstream_model="bench",
        max_concurrency=64,
        price_per_1k={"input": Decimal(0), "cached_input": Decimal(0), "output": Decimal(0)},
        sampling={},
        dialect="vllm",
        replicas=tuple(engines),
    )
    return replace(pool, routing=policy)


def _start(directory: Path, port: int, blocks: int) -> subprocess.Popen[bytes]:
    weights = os.environ.get("PARLEY_MODEL_FILE", str(_WEIGHTS))
    with (directory / f"{port}.log").open("wb") as log:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "inference", "serve", "--model", weights),
                *("--served-model-name", "bench", "--port", str(port), "--no-api-key"),
                *("--int8-activations", "auto", "--threads", "1", "--num-blocks", str(blocks)),
                "--no-prompt-lookup",
            ],
            stdout=log,
            stderr=log,
        )


def _wait(ports: Sequence[int]) -> None:
    deadline = time.monotonic() + _READY_S
    for port in ports:
        while True:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/ready", timeout=5).status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            if time.monotonic() > deadline:
                raise RuntimeError("an engine did not start")
            time.sleep(0.2)


def _print(policy: str, measured: Measured, replicas: int) -> None:
    ttft = sorted(measured.ttft_s)
    busiest = max(measured.requests.values()) * replicas / sum(measured.requests.values())
    print(
        f"| {policy} | {measured.found / max(1, measured.later):.0%}"
        f" | {measured.cached_tokens / max(1, measured.prompt_tokens):.0%}"
        f" | {statistics.median(ttft) * 1000:.0f} | {ttft[int(len(ttft) * 0.95)] * 1000:.0f}"
        f" | {(measured.prompt_tokens + measured.output_tokens) / measured.took_s:.0f}"
        f" | {busiest:.2f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m infra.load.routing", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--policies", default="prefix,affinity,least_loaded,round_robin,random")
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--conversations", type=int, default=32)
    parser.add_argument("--blocks", type=int, default=1000, help="KV blocks of each engine")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ports = [free_port() for _ in range(options.replicas)]
    with tempfile.TemporaryDirectory(prefix="parley-routing-") as directory:
        engines = [_start(Path(directory), port, options.blocks) for port in ports]
        try:
            _wait(ports)
            configs = [
                ReplicaConfig(f"e{n}", f"http://127.0.0.1:{port}") for n, port in enumerate(ports)
            ]
            conversations = trace(options.conversations, options.seed)
            print(
                "| policy | later turns cached | prompt tokens cached | TTFT p50, ms | p95, ms |"
                " tokens/s | busiest replica |\n|---|--:|--:|--:|--:|--:|--:|"
            )
            for policy in options.policies.split(","):
                measured = asyncio.run(run_policy(policy, configs, conversations, options.seed))
                _print(policy, measured, options.replicas)
        finally:
            for engine in engines:
                end_tree(engine.pid)
                engine.wait()
