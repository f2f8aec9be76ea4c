"""From a validated body to what is run: prompts, sampling parameters, structure of the answers."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from inference.core import PromptImage, SamplingParams
from inference.errors import InvalidRequestError
from inference.server.schemas import SENT_BY_ROUTERS, GenerationFields
from inference.server.state import ServerState
from inference.server.structured import to_grammar
from inference.text.generation_config import ChatDefaults
from inference.text.tools.repeats import RepeatWatch

_SHARED_FIELDS = [
    name for name in SamplingParams.__struct_fields__ if name in GenerationFields.__struct_fields__
]


@dataclass(frozen=True)
class Asked:
    """What loop detection knows of a request before its answer begins."""

    text: str
    """What the user wrote."""
    partial: tuple[int, ...] = ()
    """The prompt's last tokens where they are an answer that is continued."""


@dataclass(frozen=True)
class PreparedPrompt:
    """One prompt of a body, checked and tokenized, and how each of its sequences is sampled."""

    prompt_token_ids: list[int]
    sampling: SamplingParams
    stops: tuple[str, ...]
    skip_special_tokens: bool
    priority: int
    cache_salt: str
    timeout_s: float | None = None
    asked: Asked | None = None
    """Its answer ends when it has gone into a loop; None: it does not."""
    shown_tokens: frozenset[int] = frozenset()
    """Special tokens that are part of the text."""
    wants_readouts: bool = False
    images: tuple[PromptImage, ...] = ()
    adapter: str = ""
    """Its name; "" for none."""
    public_tokens: int = 0
    """The first so many are the product's own text."""
    predicted_token_ids: tuple[int, ...] = ()
    """Of the text that the answer is expected to have."""
    repeat_watch: Callable[[], RepeatWatch | None] = lambda: None
    """Of each answer: it ends where that finds a call to be repeated."""
    may_be_kept: bool = True
    """What is computed for it, outside the engine."""


@dataclass(frozen=True)
class Structure:
    """What the answers of a body must follow.

    Attributes:
        param: the field that asks for it.
        prefix: tokens of it that the prompt ends with.
        shown_tokens: special tokens that its grammar names.
    """

    grammar: str = ""
    param: str = ""
    prefix: tuple[int, ...] = ()
    shown_tokens: frozenset[int] = frozenset()


async def prepare_prompts(
    state: ServerState,
    body: GenerationFields,
    prompts: list[list[int]],
    *,
    max_tokens: int | None,
    max_tokens_param: str,
    logprobs: int | None,
    prompt_param: str,
    asked: Asked | None,
    defaults: ChatDefaults | None = None,
    structure: Structure | None = None,
    continued_tokens: int = 0,
    images: tuple[PromptImage, ...] = (),
    adapter: str = "",
) -> list[PreparedPrompt]:
    """Turn a body and its prompts into what is run, refusing what cannot be honoured.

    Args:
        asked: for loop detection; None switches it off.
        defaults: for sampling parameters that the body does not name.
        structure: of the answers; None: what the body asks for.
        continued_tokens: so many that the prompts end with are of the answer that is continued.
        images: of the prompt, where there is one.
        adapter: its name.
    Raises:
        InvalidRequestError: naming the parameter.
        ContextLengthError: when a prompt and its answer do not fit the model.
    """
    structure = structure or await structure_of(state, body)
    _check_ends(state, body, structure)
    if body.return_readouts and not state.model_info.num_readouts:
        raise InvalidRequestError("this engine has no --readout", param="return_readouts")
    for name, honoured in SENT_BY_ROUTERS.items():
        if getattr(body, name) is not honoured:
            raise InvalidRequestError(f"{name} can only be {honoured} here", param=name)
    sampling = _sampling(state, body, structure, logprobs, defaults or {})
    stops = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ())
    prepared = []
    for token_ids in prompts:
        if not token_ids:
            raise InvalidRequestError("the prompt is empty", param=prompt_param)
        state.check_token_ids(token_ids, prompt_param)
        param = max_tokens_param if max_tokens is not None else prompt_param
        allowed = state.tokens_left(len(token_ids), max_tokens, param)
        if sampling.min_tokens > allowed:
            raise InvalidRequestError(
                f"min_tokens {sampling.min_tokens} is more than the {allowed} allowed",
                param="min_tokens",
            )
        seed = secrets.randbits(63) if body.seed is None else body.seed & (2**63 - 1)
        prompt = PreparedPrompt(
            token_ids,
            msgspec.structs.replace(
                sampling,
                max_tokens=allowed,
                seed=seed,
                continued_tokens=min(continued_tokens, len(token_ids)),
            ),
            stops,
            body.skip_special_tokens,
            body.priority,
            body.cache_salt or "",
            body.timeout_s,
            asked,
            structure.shown_tokens,
            body.return_readouts,
            images,
            adapter,
            may_be_kept=body.kv_store,
        )
        prepared.append(prompt)
    return prepared


async def structure_of(
    state: ServerState, body: GenerationFields, prefix: tuple[int, ...] = ()
) -> Structure:
    """The structured output that a body asks for, once for all its prompts."""
    asked = (body.response_format, body.guided_regex, body.guided_choice)
    if asked == (None, None, None):
        return Structure()
    param, grammar = await state.off_loop(to_grammar, *asked)
    return Structure(grammar, param, prefix if grammar else ())


def _check_ends(state: ServerState, body: GenerationFields, structure: Structure) -> None:
    if not structure.grammar:
        return
    if not state.model_info.eos_token_ids:
        raise InvalidRequestError(
            "this model has no token that ends an answer, so structured output would not end",
            param=structure.param,
        )
    if body.min_tokens or body.ignore_eos:
        raise InvalidRequestError(
            "structured output ends when it is complete",
            param="min_tokens" if body.min_tokens else "ignore_eos",
        )


def _sampling(
    state: ServerState,
    body: GenerationFields,
    structure: Structure,
    logprobs: int | None,
    defaults: ChatDefaults,
) -> SamplingParams:
    """What all prompts of a body share; `max_tokens` and `seed` are each one's own.

    What the sampler takes as it is sent passes by its name; what is not sent has its default, the
    model's own where it has one.
    """
    stop_token_ids = body.stop_token_ids or []
    state.check_token_ids(stop_token_ids, "stop_token_ids")
    named = {name: getattr(body, name) for name in _SHARED_FIELDS}
    sent = {name: value for name, value in named.items() if value is not None}
    shared = {**defaults, **sent}
    ours = {
        "max_tokens": 0,
        "seed": 0,
        "top_k": max(0, shared.get("top_k", 0)),
        "logit_bias": _logit_bias(state, body.logit_bias or {}),
        "stop_token_ids": tuple(stop_token_ids),
        "logprobs": logprobs,
        "grammar": structure.grammar,
        "grammar_prefix": structure.prefix,
    }
    return SamplingParams(**{**shared, **ours})


def _logit_bias(state: ServerState, raw: dict[str, float]) -> dict[int, float]:
    try:
        bias = {int(token): value for token, value in raw.items()}
    except ValueError as error:
        raise InvalidRequestError("its keys must be token ids", param="logit_bias") from error
    if any(token < 0 for token in bias):
        raise InvalidRequestError("its keys must be token ids", param="logit_bias")
    state.check_token_ids(list(bias), "logit_bias")
    return bias
