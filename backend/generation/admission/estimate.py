"""Tokens of a request before anybody has tokenized it: for limits and budgets, never for bills."""

from backend.generation.pools.config import PoolConfig
from backend.generation.request import GenerationRequest

# English text has about four characters a token; code and other scripts have fewer. Three errs
# on the side of counting too much, and what was counted too much is given back at the end.
_CHARACTERS_PER_TOKEN = 3
_TOKENS_PER_MESSAGE = 8
# What an answer is assumed to need when the caller sets no limit: most are shorter.
_USUAL_OUTPUT = 512


def text_estimate(text: str) -> int:
    return 1 + len(text) // _CHARACTERS_PER_TOKEN


def input_estimate(request: GenerationRequest) -> int:
    if request.endpoint == "completion":
        prompt = request.prompt or ""
        return len(prompt) if isinstance(prompt, list) else text_estimate(prompt)
    return sum(
        _TOKENS_PER_MESSAGE + len(message.text) // _CHARACTERS_PER_TOKEN
        for message in request.messages
    )


def output_limit(request: GenerationRequest, pool: PoolConfig) -> int:
    """The most tokens that all choices together can be billed."""
    return request.n * min(
        request.params.max_tokens or pool.max_output_tokens, pool.max_output_tokens
    )


def output_estimate(request: GenerationRequest, pool: PoolConfig) -> int:
    """What the tokens-a-minute limit charges beforehand: what was asked for, else the usual."""
    if request.params.max_tokens is None:
        return request.n * min(_USUAL_OUTPUT, pool.max_output_tokens)
    return output_limit(request, pool)
