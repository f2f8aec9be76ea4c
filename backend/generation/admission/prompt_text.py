"""The text of a prompt that came as token ids: what the classifiers read of it."""

from dataclasses import replace

from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.pools.replicas import ReplicaSet
from backend.generation.request import GenerationRequest
from backend.platform.errors import InvalidRequest, UpstreamFailed


async def with_prompt_text(
    client: UpstreamClient, replicas: ReplicaSet, request: GenerationRequest
) -> GenerationRequest:
    """`request` with its token ids spelled out, by a replica that knows the vocabulary.

    A prompt that cannot be read cannot be checked, so it is refused.

    Raises:
        InvalidRequest: a number is no token of this model, or its replicas do not tell.
        UpstreamFailed: no replica could be asked.
    """
    if not any(isinstance(prompt, list) for prompt in request.prompts):
        return request
    pool = replicas.pool
    replica = replicas.choose(weight=0, affinity=None, over_limit=True)
    if replica is None:
        raise UpstreamFailed(f"No replica of {pool.id!r} could serve this. Try again.")
    texts: list[str | None] = []
    try:
        for prompt in request.prompts:
            if isinstance(prompt, str):
                texts.append(prompt)
            else:
                found = await client.detokenize(replica.config, pool.upstream_model, prompt)
                texts.append(found)
    except RequestRefused as refused:
        raise refused.error from refused
    except ReplicaUnavailable as error:
        raise UpstreamFailed(f"No replica of {pool.id!r} could serve this. Try again.") from error
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        raise InvalidRequest(
            f"The model '{pool.id}' takes its prompt as text, not as token ids.",
            param="prompt",
            code="unsupported_by_model",
        )
    return replace(request, prompt_texts=known)
