"""A model that always thinks (gpt-oss) refuses to have it switched off, by the field's name."""

from collections.abc import Iterator

import pytest

from tests.api.users import Person, program, sign_up
from tests.support.scripted import ScriptedProduct

# As our engine says it of a template that knows degrees and no end of thinking.
REFUSAL = {
    "message": "reasoning_effort: this model's chat template cannot be asked for 'none'",
    "type": "invalid_request_error",
    "param": "reasoning_effort",
    "code": None,
}


@pytest.fixture
def user(scripted_product: ScriptedProduct) -> Iterator[Person]:
    person = sign_up(scripted_product.url)
    scripted_product.refuses((400, {"error": REFUSAL}))
    yield person
    scripted_product.refuses(None)
    person.browser.close()


@pytest.mark.parametrize("stream", [False, True])
def test_disabled_thinking_is_refused_by_the_name_that_the_client_gave_it(
    scripted_product: ScriptedProduct, user: Person, stream: bool
) -> None:
    models = user.browser.get("/api/models").json()
    [model, *_] = [one["id"] for one in models.get("data", models)]
    asked = {"model": model, "max_tokens": 10, "messages": [{"role": "user", "content": "Hi."}]}
    with program(scripted_product.url, user.new_key()["secret"]) as client:
        answer = client.post(
            "/v1/messages", json={**asked, "thinking": {"type": "disabled"}, "stream": stream}
        )
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["message"].startswith("thinking") and "'none'" in error["message"], error
