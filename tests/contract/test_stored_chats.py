"""`client.chat.completions` with `store`: listed, filtered, relabelled, read again, deleted."""

import secrets
from typing import Any

import openai
import pytest

from tests.contract.test_tools import NAMED, NOW

MODEL = "smollm2-135m"
model = pytest.mark.model


def create(client: openai.OpenAI, **fields: Any) -> Any:
    asked = {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Say hello."}]},
        ],
        "temperature": 0,
        "max_tokens": 12,
        "store": True,
    }
    return client.chat.completions.create(**{**asked, **fields})


@model
def test_stored_completion_is_read_as_it_was_answered(client):
    made = create(client, metadata={"a": "b"}, seed=7)
    found: Any = client.chat.completions.retrieve(made.id)
    assert found.choices[0].message.content == made.choices[0].message.content
    assert (found.usage, found.model, found.created) == (made.usage, made.model, made.created)
    assert (found.metadata, found.seed, found.temperature) == ({"a": "b"}, 7, 0)
    first, second = client.chat.completions.messages.list(made.id)
    assert (first.role, first.content) == ("system", "Be brief.")
    assert second.content_parts is not None
    assert second.content_parts[0].text == "Say hello."
    [last] = client.chat.completions.messages.list(made.id, after=first.id, limit=1).data
    assert last.id == second.id


@model
def test_stream_is_stored_with_its_calls(client):
    chunks = list(create(client, stream=True, tools=[NOW], tool_choice=NAMED_NOW, max_tokens=60))
    [call] = client.chat.completions.retrieve(chunks[0].id).choices[0].message.tool_calls
    assert call.function.name == "now"


NAMED_NOW = {**NAMED, "function": {"name": "now"}}


@model
def test_list_is_filtered_by_model_and_metadata_and_paged(client):
    tag = secrets.token_hex(4)
    ids = [create(client, metadata={"tag": tag, "n": str(n)}, max_tokens=2).id for n in range(3)]
    listed = client.chat.completions.list
    assert [one.id for one in listed(metadata={"tag": tag}, limit=2)] == ids
    assert [one.id for one in listed(metadata={"tag": tag}, order="desc")] == ids[::-1]
    assert [one.id for one in listed(metadata={"tag": tag, "n": "1"})] == ids[1:2]
    assert list(listed(metadata={"tag": tag}, model="another")) == []
    assert [one.id for one in listed(metadata={"tag": tag}, model="auto", after=ids[1])] == ids[2:]


@model
def test_metadata_is_replaced_and_deleting_is_final(client):
    made = create(client, metadata={"a": "b"}, max_tokens=2)
    updated: Any = client.chat.completions.update(made.id, metadata={"c": "d"})
    assert updated.metadata == {"c": "d"}
    assert client.chat.completions.delete(made.id).deleted
    for gone in (client.chat.completions.retrieve, client.chat.completions.delete):
        with pytest.raises(openai.NotFoundError):
            gone(made.id)


@model
def test_completion_that_was_not_stored_is_not_found(client):
    made = create(client, store=openai.omit, max_tokens=2)
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.retrieve(made.id)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"store": None, "metadata": {"a": "b"}}, "metadata"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"metadata": {"a" * 65: "b"}}, "metadata"),
        ({"metadata": {str(n): "b" for n in range(17)}}, "metadata"),
        ({"store": "yes"}, "store"),
        ({"n": 2}, "n"),
    ],
)
def test_wrong_fields_are_refused_by_name(client, fields, param):
    with pytest.raises(openai.BadRequestError) as refusal:
        create(client, **fields)
    assert refusal.value.param == param, refusal.value.message


def test_unknown_page_is_refused_by_name(client):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.list(after="chatcmpl-1")
    assert refusal.value.param == "after"
