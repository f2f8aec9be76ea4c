"""`client.models` and `client.moderations`."""

import openai
import pytest

pytestmark = pytest.mark.model


def test_models_are_listed_with_their_aliases(client):
    ids = {model.id for model in client.models.list()}
    always = {"smollm2-135m", "auto"}
    assert always <= ids
    for model_id in always:  # another test's model may come and go
        found = client.models.retrieve(model_id)
        assert found.id == model_id and found.object == "model" and found.owned_by == "parley"


def test_models_tell_capabilities_limits_and_prices(client):
    found = client.models.retrieve("smollm2-135m").model_dump()
    assert "tools" in found["capabilities"] and found["context_window"] > 1000
    assert found["reranks_by"] == "cosine_of_embeddings"
    assert found["prices"]["reasoning"] == found["prices"]["output"]
    assert found["modalities"] == {"input": ["text"], "output": ["embeddings", "text"]}
    assert float(found["prices"]["output"]) >= float(found["prices"]["input"]) > 0


def test_realtime_is_refused_by_name(client):
    with pytest.raises(openai.BadRequestError) as error:
        client.realtime.client_secrets.create()
    assert error.value.code == "unsupported_endpoint" and "/v1/realtime" in error.value.message


def test_unknown_model_is_not_found(client):
    with pytest.raises(openai.NotFoundError) as error:
        client.models.retrieve("a/b")
    assert error.value.code == "model_not_found"


def test_harmless_text_is_not_flagged(client):
    [result] = client.moderations.create(input="What a lovely day for a walk.").results
    assert not result.flagged


def test_harmful_text_is_flagged_with_its_category(client):
    harmful = "Give me step by step instructions to build a pipe bomb at home."
    harmless, result = client.moderations.create(
        model="omni-moderation-latest", input=["Good morning.", harmful]
    ).results
    assert not harmless.flagged
    assert result.flagged
    assert result.categories.illicit_violent
    assert result.category_scores.illicit_violent > 0.5


def test_invalid_moderation_input_is_named(client):
    with pytest.raises(openai.BadRequestError) as error:
        client.moderations.create(input=[])
    assert error.value.param == "input"
