"""A sampling parameter passes every place between a client's body and the engine's sampler."""

from typing import Any
from uuid import uuid4

from backend.accounts.principal import PlanLimits, Principal
from backend.api.openai_requests import from_chat, from_completion
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.openai_completions import CompletionRequest
from backend.api.schemas.openai_parameters import GenerationParameters
from backend.generation.request import SamplingParams
from inference.core import SamplingParams as EngineParams
from inference.server import schemas as engine

# One value for each parameter, which is nobody's default.
VALUES: dict[str, Any] = {
    "max_tokens": 7,
    "min_tokens": 3,
    "temperature": 0.3,
    "top_p": 0.8,
    "top_k": 11,
    "min_p": 0.05,
    "presence_penalty": 0.4,
    "frequency_penalty": 0.6,
    "repetition_penalty": 1.1,
    "seed": 5,
    "stop": ["END"],
    "logit_bias": {"3": -1.0},
    "ignore_eos": True,
    "top_logprobs": 2,
}
# Said by each endpoint in its own way, with tests of their own.
OWN_WAYS = {"logprobs", "response_format", "extra"}
# Of a body's fields, those that do not go to the sampler.
NOT_SAMPLING = {"model", "stream", "stream_options", "n", "user"}
# Of the engine's, those that it does not pass to its sampler by their names.
NOT_THE_SAMPLERS = {
    *("model", "stream", "stream_options", "n", "user", "priority", "timeout_s", "cache_salt"),
    *("stop", "skip_special_tokens"),  # text, which the sampler does not know
    *("response_format", "guided_regex", "guided_choice"),  # its `grammar`
}
# Of the sampler's fields, those that the server makes of others.
MADE_BY_THE_SERVER = {"grammar", "logprobs"}


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


def test_every_parameter_has_a_value_here() -> None:
    assert set(SamplingParams.__struct_fields__) == VALUES.keys() | OWN_WAYS
    assert set(GenerationParameters.model_fields) - NOT_SAMPLING <= VALUES.keys()


def test_parameters_of_a_chat_reach_the_upstream() -> None:
    asked = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}], "logprobs": True}
    body = ChatCompletionRequest.model_validate({**asked, **VALUES})
    request = from_chat(body, principal=caller(), request_id="r", client_hash="")
    assert {name: getattr(request.params, name) for name in VALUES} == VALUES


def test_parameters_of_a_completion_reach_the_upstream() -> None:
    values = {name: value for name, value in VALUES.items() if name != "top_logprobs"}
    body = CompletionRequest.model_validate({"model": "auto", "prompt": "Hi", **values})
    request = from_completion(body, principal=caller(), request_id="r", client_hash="")
    assert {name: getattr(request.params, name) for name in values} == values


def test_the_engine_takes_what_the_gateway_sends() -> None:
    sent = set(SamplingParams.__struct_fields__) - {"extra"}
    assert sent <= set(engine.ChatRequest.__struct_fields__)


def test_the_sampler_has_what_bodies_can_set_and_nothing_else() -> None:
    settable = set(engine.GenerationFields.__struct_fields__) - NOT_THE_SAMPLERS
    assert set(EngineParams.__struct_fields__) - MADE_BY_THE_SERVER == settable
