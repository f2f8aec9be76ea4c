"""What is billed of an answer is what was delivered of it, whatever is held back when."""

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.generation.pools.chunks import UpstreamChunk
from backend.generation.run.output import ChoiceOutput, ResumedChoice
from backend.generation.run.token_accounting import TokenAccounting
from backend.generation.usage import Usage
from safety.judge.policy import DEFAULT_POLICY
from safety.types import SafetyMessage

CHUNKS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=30)
WORDS = st.lists(
    st.sampled_from(["the ", "red ", "fox", " ", "jumps ", "over\n", "a", "é ", "lazy "]),
    max_size=40,
)
CONTEXT = [SafetyMessage("user", "Tell me a story.")]


@given(CHUNKS, st.lists(st.integers(0, 200)))
def test_counts_only_grow_and_stay_within_what_was_generated(
    chunks: list[tuple[int, int]], deliveries: list[int]
) -> None:
    accounting = TokenAccounting()
    characters = tokens = 0
    for more_characters, more_tokens in chunks:
        characters += more_characters
        tokens += more_tokens
        accounting.generated(more_characters, tokens)
    seen = 0
    for position in sorted(deliveries):
        counted = accounting.delivered(min(position, characters))
        assert seen <= counted <= tokens
        seen = counted
    assert accounting.all_delivered() == tokens


@given(st.lists(st.integers(1, 6), min_size=1), st.data())
def test_every_chunk_counts_one_token_when_upstream_never_counts(
    lengths: list[int], data: st.DataObject
) -> None:
    accounting = TokenAccounting()
    for number, length in enumerate(lengths, start=1):
        accounting.generated(length, number)
    position = data.draw(st.integers(0, sum(lengths)))
    starts = [sum(lengths[:index]) for index in range(len(lengths))]
    assert accounting.delivered(position) == sum(start < position for start in starts)


@settings(max_examples=40, deadline=None)
@given(WORDS, st.integers(0, 10_000))
def test_delivered_text_and_count_do_not_depend_on_chunk_borders(
    words: list[str], seed: int
) -> None:
    text = "".join(words)
    singly = _feed([(character, 1) for character in text])
    at_once = _feed([(text, len(text))])
    assert singly.text == at_once.text == text
    assert singly.tokens == at_once.tokens == len(text)


@settings(max_examples=40, deadline=None)
@given(WORDS, st.integers(0, 40))
def test_failed_over_answer_is_neither_repeated_nor_lost_nor_counted_twice(
    words: list[str], cut: int
) -> None:
    first = ChoiceOutput(0, policy=DEFAULT_POLICY, context=CONTEXT)
    for number, word in enumerate(words[:cut], start=1):
        first.feed([_chunk(word, number)])
    # The process dies here: what was held back was seen by nobody, and is generated again.
    delivered = first.text
    rest = "".join(words)[len(delivered) :]
    resumed = ResumedChoice(delivered, first.tokens, True, None)
    second = ChoiceOutput(0, policy=DEFAULT_POLICY, context=CONTEXT, resumed=resumed)
    second.begin_attempt()
    for number, character in enumerate(rest, start=1):
        second.feed([_chunk(character, number)])
    second.end("stop")

    assert second.text == "".join(words)
    assert second.tokens == first.tokens + len(rest)


def test_text_held_back_by_a_halt_is_neither_sent_nor_counted() -> None:
    choice = ChoiceOutput(0, policy=DEFAULT_POLICY, context=CONTEXT)
    harmful = (
        "Of course. Now, here is the guide: to make a pipe bomb you will need a pipe and a cap."
    )
    answer = [f"{word} " for word in harmful.split()]
    for number, word in enumerate(answer, start=1):
        if choice.finish_reason is None:
            choice.feed([_chunk(word, number)])
    choice.end("stop")

    assert choice.halted is not None
    assert choice.finish_reason == "content_filter"
    assert "bomb" not in choice.text
    assert "".join(answer).startswith(choice.text)
    assert choice.tokens == len(choice.text.split()) < choice.generated_tokens


def test_logprobs_cover_released_text_only() -> None:
    choice = ChoiceOutput(0, policy=DEFAULT_POLICY, context=CONTEXT)
    seen: list[bytes] = []
    for number, word in enumerate(["My ", "card ", "is ", "4111 1111 ", "1111 1111", " ok "], 1):
        logprobs = b'{"content":[{"token":"%s"}]}' % word.encode()
        delivery = choice.feed([UpstreamChunk(word, None, logprobs, Usage(3, 0, number))])
        if delivery is not None and delivery.logprobs is not None:
            seen.append(delivery.logprobs)
    choice.end("stop")

    assert "4111" not in choice.text
    assert b"4111" not in b"".join(seen)
    assert b"card" in b"".join(seen)
    assert choice.tokens == 6


def _chunk(text: str, tokens: int) -> UpstreamChunk:
    return UpstreamChunk(text, None, None, Usage(output_tokens=tokens))


def _feed(chunks: list[tuple[str, int]]) -> ChoiceOutput:
    choice = ChoiceOutput(0, policy=DEFAULT_POLICY, context=CONTEXT)
    tokens = 0
    for text, more in chunks:
        tokens += more
        choice.feed([_chunk(text, tokens)])
    choice.end("stop")
    return choice
