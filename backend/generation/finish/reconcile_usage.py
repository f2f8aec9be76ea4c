"""What the engines counted of a generation whose process and buffer are lost.

Every request to an engine carries the generation's id as `X-Usage-Key`, and our engine keeps the
final counts of requests that ended under that key for some minutes. Other upstreams know no such
thing and answer 404: then nothing is known, and nothing is billed.

The count is what was generated. What was delivered may be less by what was under way in the
moment in which the web process died: some tokens at most.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from uuid import UUID

import msgspec
import structlog

from backend.generation.pools.chunks import ReportedUsage
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolConfig, ReplicaConfig
from backend.generation.pools.errors import ReplicaUnavailable
from backend.generation.usage import Usage, total_of

log = structlog.get_logger(__name__)


class EndedRequest(msgspec.Struct, frozen=True):
    """One request to one engine. `request_id` ends with the number of its choice; `ended_at` is
    in unix seconds of the engine's clock."""

    request_id: str
    ended_at: float
    usage: ReportedUsage


class EndedRequests(msgspec.Struct, frozen=True):
    requests: list[EndedRequest]


async def reconciled_usage(
    client: UpstreamClient, pool: PoolConfig, generation_id: UUID
) -> Usage | None:
    """Ask every replica of the pool; None where none knows of anything that it generated.

    A replica that does not answer is not waited for: it may have served nothing of it.
    """
    answers = await asyncio.gather(
        *(_ask(client, replica, generation_id) for replica in pool.replicas)
    )
    return usage_of(chain.from_iterable(answers))


def usage_of(requests: Iterable[EndedRequest]) -> Usage | None:
    """Sum up the requests of one generation, whichever replicas they went to.

    A continuation's prompt is the first one's and the text so far. So of each choice the last
    request tells the whole, and what an interrupted one had generated in vain is not counted.
    Choices of several prompts are numbered PROMPT.CHOICE, and each prompt counts once.
    """
    by_choice: dict[str, list[EndedRequest]] = defaultdict(list)
    for request in sorted(requests, key=lambda request: request.ended_at):
        if request.usage.completion_tokens:
            by_choice[request.request_id.rpartition("-")[2]].append(request)
    if not by_choice:
        return None
    first: dict[str, EndedRequest] = {}
    for number, each in by_choice.items():
        group = number.rpartition(".")[0]
        first[group] = min(first.get(group, each[0]), each[0], key=lambda request: request.ended_at)
    output = sum(
        each[-1].usage.prompt_tokens
        - each[0].usage.prompt_tokens
        + each[-1].usage.completion_tokens
        for each in by_choice.values()
    )
    prompts = total_of([request.usage.counted() for request in first.values()])
    thought = sum(each[-1].usage.reasoning_tokens for each in by_choice.values())
    return prompts.with_(output_tokens=output, reasoning_tokens=thought)


async def _ask(
    client: UpstreamClient, replica: ReplicaConfig, generation_id: UUID
) -> list[EndedRequest]:
    try:
        found = await client.usage(replica, str(generation_id))
        return [] if found is None else msgspec.json.decode(found, type=EndedRequests).requests
    except (ReplicaUnavailable, msgspec.DecodeError) as error:
        log.warning("final_count_unknown", replica=replica.name, error=str(error))
        return []
