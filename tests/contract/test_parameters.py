"""Each parameter of OpenAI's client is honoured or refused by name: none is ignored in silence."""

from typing import Any

import pytest
from openai.types import completion_create_params as text_params
from openai.types import moderation_create_params
from openai.types.chat import completion_create_params as chat_params

from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.openai_completions import CompletionRequest
from backend.api.schemas.openai_moderations import ModerationRequest
from backend.api.schemas.openai_parameters import refuse_by_name
from backend.platform.errors import InvalidRequest

CHAT: dict[str, Any] = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}]}
TEXT: dict[str, Any] = {"model": "auto", "prompt": "Hi"}


def parameters_of(*typed_dicts: Any) -> set[str]:
    return {name for typed_dict in typed_dicts for name in typed_dict.__annotations__}


CHAT_PARAMETERS = parameters_of(
    chat_params.CompletionCreateParamsBase,
    chat_params.CompletionCreateParamsNonStreaming,
    chat_params.CompletionCreateParamsStreaming,
)
TEXT_PARAMETERS = parameters_of(
    text_params.CompletionCreateParamsBase,
    text_params.CompletionCreateParamsNonStreaming,
    text_params.CompletionCreateParamsStreaming,
)


def test_parameters_of_the_client_are_found():
    assert {"messages", "seed", "tools", "stream"} <= CHAT_PARAMETERS
    assert {"prompt", "echo", "stream"} <= TEXT_PARAMETERS


@pytest.mark.parametrize("name", sorted(CHAT_PARAMETERS))
def test_every_chat_parameter_is_known(name):
    assert (name in ChatCompletionRequest.model_fields) != (name in ChatCompletionRequest.refused)


@pytest.mark.parametrize("name", sorted(TEXT_PARAMETERS))
def test_every_completion_parameter_is_known(name):
    assert (name in CompletionRequest.model_fields) != (name in CompletionRequest.refused)


def test_every_moderation_parameter_is_known():
    assert parameters_of(moderation_create_params.ModerationCreateParams) == set(
        ModerationRequest.model_fields
    )


@pytest.mark.parametrize("name", sorted(ChatCompletionRequest.refused))
def test_refused_chat_parameter_is_named(name):
    with pytest.raises(InvalidRequest) as refusal:
        ChatCompletionRequest.model_validate({**CHAT, name: {"anything": 1}})
    assert refusal.value.param == name
    assert name in refusal.value.message


@pytest.mark.parametrize(
    ("model", "body"), [(ChatCompletionRequest, CHAT), (CompletionRequest, TEXT)]
)
def test_refused_parameter_passes_with_a_neutral_value(model, body):
    for name, neutral in model.refused.items():
        for value in (None, *neutral):
            model.model_validate({**body, name: value})


def test_neutral_value_is_compared_with_its_type():
    """`False == 0` in Python; in JSON they are different answers to a different question."""
    assert refuse_by_name({"audio": (False,)}, {"audio": False}) == {}
    with pytest.raises(InvalidRequest):
        refuse_by_name({"audio": (False,)}, {"audio": 0})
