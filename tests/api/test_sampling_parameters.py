"""A sampling parameter passes every place between a client's body and the engine's sampler."""

from typing import Annotated, Any, get_args, get_origin
from uuid import uuid4

import msgspec
from msgspec import Meta

from backend.accounts.principal import PlanLimits, Principal
from backend.api.openai_requests import from_chat, from_completion
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.openai_completions import CompletionRequest
from backend.api.schemas.openai_parameters import GenerationParameters
from backend.generation.request import SamplingParams
from inference.core import SamplingParams as EngineParams
from inference.server import schemas as engine
from inference.server.schemas import MADE_BY_SERVER
from infra.launcher.procfile import ROOT

PRODUCT = {field.name: field.type for field in msgspec.structs.fields(SamplingParams)}
ENGINE = {field.name: field.type for field in msgspec.structs.fields(EngineParams)}

# Of the product's, those that each endpoint says in its own way, with tests of their own.
OWN_WAYS = {"logprobs", "response_format", "extra"}
# One value for each parameter that the table's bounds do not give one for.
WITHOUT_BOUNDS: dict[str, Any] = {
    "max_tokens": 7,
    "stop": ["END"],
    "logit_bias": {"3": -1.0},
    "ignore_eos": True,
    "stop_on_loop": False,
    "top_logprobs": 2,
}
# Of a body's fields, those that do not go to the sampler.
NOT_SAMPLING = {"model", "stream", "stream_options", "n", "user"}
# Of the engine's, those that it does not pass to its sampler by their names.
NOT_THE_SAMPLERS = {
    *("model", "stream", "stream_options", "n", "user", "priority", "timeout_s", "cache_salt"),
    "kv_store",
    # Text, and what is made of it, which the sampler does not know.
    *("stop", "skip_special_tokens", "stop_on_loop", "return_readouts"),
    *("response_format", "guided_regex", "guided_choice"),  # its `grammar`
    *engine.SENT_BY_ROUTERS,
}
# Of the product's, those that the engine's sampler has under other names or not at all.
NOT_IN_THE_SAMPLER = {"stop", "stop_on_loop", "response_format", "top_logprobs", "extra"}
# Taken in another form than the sampler has them, so their bounds cannot be compared.
OTHER_FORM = {"logit_bias", "logprobs", "seed", "top_k", "min_tokens", "ignore_eos", "max_tokens"}


def bounds(hint: Any) -> Meta | None:
    """What an annotation says of its values, within a union too."""
    if get_origin(hint) is Annotated:
        return next(note for note in get_args(hint)[1:] if isinstance(note, Meta))
    return next(filter(None, map(bounds, get_args(hint))), None)


def value_of(name: str) -> Any:
    """One within the bounds, which is nobody's default."""
    if name in WITHOUT_BOUNDS:
        return WITHOUT_BOUNDS[name]
    meta = bounds(PRODUCT[name])
    assert meta is not None, f"{name}: give it bounds in the table, or a value here"
    low = meta.ge if meta.ge is not None else meta.gt
    high = meta.le if meta.le is not None else meta.lt
    assert low is not None and high is not None
    step = (high - low) / 7
    return low + (int(step) if isinstance(low, int) and int in kinds(PRODUCT[name]) else step)


def kinds(hint: Any) -> set[type]:
    """The plain types of an annotation."""
    if get_origin(hint) is Annotated:
        return kinds(get_args(hint)[0])
    return set().union(*map(kinds, get_args(hint))) if get_args(hint) else {hint}


VALUES: dict[str, Any] = {name: value_of(name) for name in PRODUCT if name not in OWN_WAYS}


def caller() -> Principal:
    plan = PlanLimits("free", 20, 20, 60_000, 4)
    return Principal(
        organization_id=uuid4(),
        project_id=uuid4(),
        user_id=uuid4(),
        key_id=None,
        role="owner",
        plan=plan,
        scopes=frozenset(),
    )


def test_bodies_have_the_parameters_of_the_table() -> None:
    assert set(GenerationParameters.model_fields) - NOT_SAMPLING <= VALUES.keys()


def test_guide_names_every_parameter() -> None:
    guide = (ROOT / "docs" / "api.md").read_text()
    _, _, guide = guide.partition("## Parameters of a generation")
    guide, _, _ = guide.partition("\n## ")
    missing = [name for name in PRODUCT if f"`{name}`" not in guide and name != "extra"]
    assert missing == [], "these are not in docs/api.md, 'Parameters of a generation'"


def test_chat_parameters_reach_the_upstream() -> None:
    asked = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}], "logprobs": True}
    body = ChatCompletionRequest.model_validate({**asked, **VALUES})
    request = from_chat(body, principal=caller(), request_id="r", client_hash="")
    assert {name: getattr(request.params, name) for name in VALUES} == VALUES


def test_completion_parameters_reach_the_upstream() -> None:
    values = {name: value for name, value in VALUES.items() if name != "top_logprobs"}
    body = CompletionRequest.model_validate({"model": "auto", "prompt": "Hi", **values})
    request = from_completion(body, principal=caller(), request_id="r", client_hash="")
    assert {name: getattr(request.params, name) for name in values} == values


def test_engine_accepts_every_parameter_the_gateway_sends() -> None:
    sent = set(SamplingParams.__struct_fields__) - {"extra"}
    assert sent <= set(engine.ChatRequest.__struct_fields__)


def test_engine_bounds_hold_the_products() -> None:
    """A value that the product takes is none that the engine refuses."""
    for name in PRODUCT.keys() - NOT_IN_THE_SAMPLER:
        assert name in ENGINE, f"{name} is not in inference/core.py, SamplingParams"
        ours, theirs = bounds(PRODUCT[name]), bounds(ENGINE[name])
        if name in OTHER_FORM or ours is None:
            continue
        assert theirs is not None, f"{name} has no bounds in inference/core.py"
        lowest = (ours.ge if ours.ge is not None else ours.gt, ours.gt is not None)
        floor = (theirs.ge if theirs.ge is not None else theirs.gt, theirs.gt is not None)
        # OpenAI's top_p 0 is made a little more on the way (openai_requests.py).
        assert floor <= lowest or name == "top_p", name
        assert (ours.le, ours.lt) == (theirs.le, theirs.lt), name


def test_sampler_fields_are_those_that_bodies_can_set() -> None:
    settable = set(engine.GenerationFields.__struct_fields__) - NOT_THE_SAMPLERS
    assert set(EngineParams.__struct_fields__) - MADE_BY_SERVER == settable
