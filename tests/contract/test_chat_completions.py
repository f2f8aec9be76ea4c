"""`client.chat.completions`, as a developer uses it."""

import math
import uuid

import httpx
import openai
import pytest

pytestmark = pytest.mark.model

HELLO = [{"role": "user", "content": "Say hello in one short sentence."}]
TIERS = ("auto", "flex", "priority")
COUNT = [{"role": "user", "content": "Count from one to fifty in words, separated by commas."}]


def ask(client, messages=HELLO, **options):
    return client.chat.completions.create(
        model="smollm2-135m", messages=messages, **{"max_completion_tokens": 8, **options}
    )


def test_whole_answer_has_openais_fields(client):
    answer = ask(client)
    assert answer.id.startswith("chatcmpl-")
    assert answer.object == "chat.completion"
    assert answer.model == "smollm2-135m"
    [choice] = answer.choices
    assert choice.message.role == "assistant"
    assert choice.message.content
    assert choice.finish_reason in {"stop", "length"}
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.prompt_tokens > 10
    assert 0 < answer.usage.completion_tokens <= 8


def test_streamed_text_equals_the_whole_answer_and_its_usage_comes_last_if_asked_for(client):
    whole = ask(client, temperature=0)
    chunks = list(ask(client, temperature=0, stream=True))
    assert len({chunk.id for chunk in chunks}) == 1
    assert all(chunk.object == "chat.completion.chunk" for chunk in chunks)
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    reasons = [c.choices[0].finish_reason for c in chunks if c.choices]
    assert reasons[-1] == whole.choices[0].finish_reason
    assert set(reasons[:-1]) == {None}
    assert all(chunk.usage is None for chunk in chunks)
    *_, last = ask(client, temperature=0, stream=True, stream_options={"include_usage": True})
    assert last.choices == []
    assert last.usage.completion_tokens == whole.usage.completion_tokens
    assert last.usage.prompt_tokens == whole.usage.prompt_tokens


def test_loop_is_ended_says_so_and_is_billed_as_delivered(client, product):
    """Without its pool's penalty, and with one word likelier than all others."""
    engine = product.environment["PARLEY_ENGINE_URL"]
    key = product.environment["PARLEY_ENGINE_API_KEY"]
    [token, *_] = httpx.post(
        f"{engine}/tokenize",
        json={"prompt": " again", "add_special_tokens": False},
        headers={"authorization": f"Bearer {key}"} if key else {},
    ).json()["tokens"]
    options = {
        "messages": [{"role": "user", "content": "List the countries of the world."}],
        "max_completion_tokens": 200,
        "temperature": 0,
        "logit_bias": {str(token): 100},
    }
    plain = {"repetition_penalty": 1.0}
    answer = ask(client, **options, extra_body=plain)
    [choice] = answer.choices
    assert choice.finish_reason == "length"
    assert choice.model_extra["finish_details"] == {"type": "loop"}
    assert answer.usage.completion_tokens < 190
    [row] = product.rows(
        "SELECT g.state, g.finish_reason, g.output_tokens, u.output_tokens AS billed"
        " FROM generation_generation g JOIN billing_usagerecord u ON u.generation_id = g.id"
        " WHERE g.id = %s",
        [uuid.UUID(answer.id.removeprefix("chatcmpl-"))],
    )
    assert (row["state"], row["finish_reason"]) == ("completed", "loop")
    assert row["billed"] == row["output_tokens"] == answer.usage.completion_tokens

    chunks = list(ask(client, **options, stream=True, extra_body=plain))
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == choice.message.content
    assert chunks[-1].choices[0].finish_reason == "length"
    assert chunks[-1].choices[0].model_extra["finish_details"] == {"type": "loop"}

    asked = {**plain, "stop_on_loop": False}
    wanted = ask(client, **options, extra_body=asked)
    assert wanted.usage.completion_tokens == 200
    assert wanted.choices[0].message.content.startswith(choice.message.content)


def test_streaming_helper_accumulates_the_answer(client):
    messages = [{"role": "user", "content": "Answer with one word: yes or no?"}]
    with client.chat.completions.stream(
        model="auto", messages=messages, temperature=0, max_completion_tokens=20
    ) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
    assert text and stream.get_final_completion().choices[0].message.content == text


def test_seed_repeats_the_answer(client):
    first, second = (ask(client, seed=7, temperature=1.2) for _ in range(2))
    other = ask(client, seed=8, temperature=1.2)
    assert first.choices[0].message.content == second.choices[0].message.content
    assert other.choices[0].message.content != first.choices[0].message.content


def test_stop_sequence_ends_the_answer_before_it(client):
    free = ask(client, COUNT, temperature=0).choices[0].message.content
    stop = free[len(free) // 2 :][:3]
    stopped = ask(client, COUNT, temperature=0, stop=[stop])
    assert stopped.choices[0].message.content == free[: free.index(stop)]
    assert stopped.choices[0].finish_reason == "stop"


def test_answer_ends_with_length_at_max_tokens(client):
    answer = ask(client, COUNT, temperature=0, max_completion_tokens=5)
    assert answer.usage.completion_tokens == 5
    assert answer.choices[0].finish_reason == "length"
    older = ask(client, COUNT, temperature=0, max_completion_tokens=openai.omit, max_tokens=5)
    assert older.choices[0].message.content == answer.choices[0].message.content


def test_n_gives_as_many_choices_each_counted(client):
    answer = ask(client, n=3, temperature=1, seed=1, max_completion_tokens=8)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert 3 <= answer.usage.completion_tokens <= 24
    streamed: dict[int, str] = {}
    for chunk in ask(client, n=3, temperature=1, seed=1, max_completion_tokens=8, stream=True):
        for choice in chunk.choices:
            streamed[choice.index] = streamed.get(choice.index, "") + (choice.delta.content or "")
    assert sorted(streamed) == [0, 1, 2]


def test_logprobs_come_with_each_token(client):
    answer = ask(client, temperature=0, logprobs=True, top_logprobs=3, max_completion_tokens=6)
    tokens = answer.choices[0].logprobs.content
    assert len(tokens) == answer.usage.completion_tokens
    for token in tokens:
        assert token.logprob <= 0 and len(token.top_logprobs) == 3
        best = max(token.top_logprobs, key=lambda one: one.logprob)
        assert best.token == token.token, "greedy decoding takes the likeliest"
        assert sum(math.exp(one.logprob) for one in token.top_logprobs) <= 1.0001


def test_logit_bias_forces_a_token(client):
    """Token 28 of this vocabulary's single characters is found by asking for it alone."""
    biased = ask(client, temperature=0, logit_bias={"28": 100}, max_completion_tokens=4)
    text = biased.choices[0].message.content
    assert len(text) == 4 and len(set(text)) == 1


def test_system_and_developer_roles_give_the_same_answer(client):
    system = [{"role": "system", "content": "Answer in French."}, *HELLO]
    developer = [{"role": "developer", "content": "Answer in French."}, *HELLO]
    assert ask(client, system, temperature=0).choices[0].message.content == (
        ask(client, developer, temperature=0).choices[0].message.content
    )


def test_answer_is_accepted_as_a_message(client):
    answer = ask(client)
    messages = [
        *HELLO,
        answer.choices[0].message.model_dump(),
        {"role": "user", "content": [{"type": "text", "text": "And again."}]},
    ]
    assert ask(client, messages).choices[0].message.content


def test_extra_parameters_are_honoured(client):
    answer = ask(client, temperature=1, seed=3, extra_body={"top_k": 1, "min_p": 0.1})
    assert (
        answer.choices[0].message.content == ask(client, temperature=0).choices[0].message.content
    )


def test_unicode_arrives_unbroken(client):
    messages = [{"role": "user", "content": "Repeat exactly: 🦜 naïve 漢字 🏳️‍🌈"}]
    text = ask(client, messages, temperature=0, max_completion_tokens=24).choices[0].message.content
    streamed = "".join(
        chunk.choices[0].delta.content or ""
        for chunk in ask(client, messages, temperature=0, max_completion_tokens=24, stream=True)
        if chunk.choices
    )
    assert streamed == text
    assert "\ufffd" not in text


def test_service_tier_has_a_price_of_its_own(client, product, developer):
    answers = [ask(client, max_completion_tokens=3, service_tier=tier) for tier in TIERS]
    assert [answer.service_tier for answer in answers] == ["default", "flex", "priority"]
    billed = product.rows(
        "SELECT model FROM billing_usagerecord WHERE organization_id = %s"
        " AND model IN ('smollm2-135m:flex', 'smollm2-135m:priority')",
        [developer.organization_id],
    )
    assert sorted(row["model"].partition(":")[2] for row in billed) == ["flex", "priority"]


def test_prediction_is_counted_and_changes_no_token(client):
    asked = {
        "model": "smollm2-135m",
        "messages": [{"role": "user", "content": "Count from one to twelve in words."}],
        "temperature": 0,
        "max_tokens": 24,
    }
    plain = client.chat.completions.create(**asked)
    said = plain.choices[0].message.content
    answer = client.chat.completions.create(
        **asked, prediction={"type": "content", "content": said}
    )
    assert answer.choices[0].message.content == said
    details = answer.usage.completion_tokens_details
    assert details.accepted_prediction_tokens > 6
    assert details.rejected_prediction_tokens is not None
    assert plain.usage.completion_tokens_details.accepted_prediction_tokens is None
    *_, last = client.chat.completions.create(
        **asked,
        prediction={"type": "content", "content": [{"type": "text", "text": said}]},
        stream=True,
        stream_options={"include_usage": True},
    )
    assert last.usage.completion_tokens_details.accepted_prediction_tokens > 6
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(**asked, prediction={"type": "text", "content": said})
    assert "prediction" in refusal.value.param


def test_verbosity_is_a_sentence_of_the_system_message(client):
    def tokens(verbosity, system):
        messages = [{"role": "system", "content": "Be kind."}] if system else []
        answer = client.chat.completions.create(
            model="smollm2-135m",
            messages=[*messages, {"role": "user", "content": "Hello"}],
            verbosity=verbosity,
            max_tokens=1,
        )
        return answer.usage.prompt_tokens

    plain = tokens("medium", True)
    for verbosity in ("low", "high"):
        assert tokens(verbosity, True) > plain + 10
    response = client.responses.create(
        model="smollm2-135m", input="Hello", text={"verbosity": "low"}, max_output_tokens=1
    )
    assert response.text.verbosity == "low"
    assert response.usage.input_tokens == tokens("low", False)
