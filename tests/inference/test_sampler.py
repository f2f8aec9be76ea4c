"""Sampling: the right distribution, and a choice that depends on its own request only."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from inference.core import Request, SamplingParams
from inference.errors import LogitsNotFiniteError
from inference.sampling.sampler import LogitsRow, Sampler
from inference.sampling.uniform import uniform

VOCAB = 1000
EOS = 2


def make_request(prompt=(5, 6), output=(), **sampling) -> Request:
    params = SamplingParams(**{"max_tokens": 100, **sampling})
    request = Request("r", list(prompt), params)
    request.token_ids.extend(output)
    return request


def sample(logits: torch.Tensor, requests: list[Request]) -> list[int]:
    rows = [LogitsRow(request) for request in requests]
    return [s.token_id for s in Sampler(frozenset([EOS]))(logits.clone(), rows)]


def peaked() -> torch.Tensor:
    """A distribution over the whole vocabulary with a few likely tokens."""
    logits = torch.linspace(-6, -4, VOCAB)
    logits[[10, 20, 30, 40]] = torch.tensor([3.0, 2.5, 2.0, 1.0])
    return logits


def frequencies(logits: torch.Tensor, draws: int, **sampling) -> torch.Tensor:
    requests = [make_request(seed=seed, **sampling) for seed in range(draws)]
    tokens = sample(logits.repeat(draws, 1), requests)
    return torch.bincount(torch.tensor(tokens), minlength=VOCAB) / draws


def exact(logits: torch.Tensor, *, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0) -> torch.Tensor:
    """The definition, written as plainly as possible."""
    probs = (logits.double() / temperature).softmax(-1)
    order = probs.argsort(descending=True)
    if top_k:
        probs[order[top_k:]] = 0
        probs /= probs.sum()
    kept, mass = set(), 0.0
    for token in order.tolist():
        if mass >= top_p:
            break
        kept.add(token)
        mass += float(probs[token])
    probs[[t for t in range(VOCAB) if t not in kept]] = 0
    probs[probs < min_p * probs.max()] = 0
    return probs / probs.sum()


@pytest.mark.parametrize(
    "sampling",
    [
        {},
        {"temperature": 0.5},
        {"temperature": 2.0},
        {"top_k": 3},
        {"top_p": 0.6},
        {"min_p": 0.2},
        {"top_k": 3, "top_p": 0.7, "temperature": 1.3},
        {"top_k": 700, "top_p": 0.98},
        {"top_p": 0.999, "temperature": 1.7, "min_p": 0.01},
    ],
)
def test_samples_follow_the_exact_distribution(sampling):
    draws = 2000
    found = frequencies(peaked(), draws, **sampling)
    wanted = exact(peaked(), **sampling)
    assert not found[wanted == 0].any()
    # Chi-square over tokens that are expected often enough, the rest as one cell.
    often = wanted * draws >= 8
    cells_wanted = torch.cat([wanted[often], (1 - wanted[often].sum()).clamp(min=0)[None]])
    cells_found = torch.cat([found[often].double(), (1 - found[often].sum())[None].double()])
    real = cells_wanted * draws >= 8
    statistic = draws * ((cells_found - cells_wanted)[real] ** 2 / cells_wanted[real]).sum()
    freedom = max(int(real.sum()) - 1, 1)
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)


def test_seed_gives_the_same_token_alone_and_in_any_batch():
    torch.manual_seed(0)
    rows = torch.randn(6, VOCAB) * 2
    kinds: list[dict[str, Any]] = [
        {},
        {"top_p": 0.5},
        {"top_k": 5},
        {"temperature": 0.0},
        {"min_p": 0.1},
        {},
    ]
    requests = [make_request(seed=i, **kind) for i, kind in enumerate(kinds)]
    together = sample(rows, requests)
    alone = [sample(rows[i : i + 1], [requests[i]])[0] for i in range(6)]
    backwards = sample(rows.flip(0), requests[::-1])[::-1]
    assert together == alone == backwards


def test_other_positions_and_seeds_give_other_numbers():
    numbers = {uniform(seed, position) for seed in range(50) for position in range(50)}
    assert len(numbers) == 2500
    assert all(0 <= number < 1 for number in numbers)
    assert abs(sum(numbers) / 2500 - 0.5) < 0.02


def test_penalties_follow_their_definitions():
    logits = torch.zeros(1, VOCAB)
    logits[0, [5, 7, 8, 9]] = torch.tensor([2.0, 2.0, -2.0, 1.0])
    request = make_request(
        prompt=(5,),
        output=(7, 7, 8),
        temperature=0.0,
        repetition_penalty=2.0,
        presence_penalty=0.5,
        frequency_penalty=0.25,
    )
    changed = logits.clone()
    Sampler(frozenset([EOS]))(changed, [LogitsRow(request)])
    assert changed[0, 5] == 1.0  # in the prompt: repetition only
    assert changed[0, 7] == 2.0 / 2 - 0.5 - 2 * 0.25
    assert changed[0, 8] == -2.0 * 2 - 0.5 - 0.25
    assert changed[0, 9] == 1.0


def test_penalties_of_a_long_answer_are_those_of_its_tokens_counted_at_once():
    """The sampler counts what is new; another, asked once, counts everything."""
    torch.manual_seed(4)
    sampling = {"repetition_penalty": 1.3, "frequency_penalty": 0.4, "presence_penalty": 0.2}
    prompt = torch.randint(VOCAB, (50,)).tolist()
    requests = [
        make_request(prompt, temperature=0.0, **sampling),
        make_request(prompt, temperature=0.0, continued_tokens=20, **sampling),
    ]
    kept = Sampler(frozenset([EOS]))
    for step in range(12):
        logits = torch.randn(1, VOCAB).repeat(4, 1)
        draft = (step, step, 7)
        rows = [LogitsRow(r, draft[:n]) for r in requests for n in (0, len(draft))]
        found, anew = logits.clone(), logits.clone()
        sampled = kept(found, rows)
        Sampler(frozenset([EOS]))(anew, rows)
        torch.testing.assert_close(found, anew)
        for request, own in zip(requests, sampled[::2], strict=True):
            request.token_ids += [own.token_id, step]


def plain_penalties(
    logits: torch.Tensor, prompt: list[int], answer: list[int], p: SamplingParams
) -> torch.Tensor:
    """The definition, over the whole vocabulary."""
    counts = torch.zeros(VOCAB)
    for token in answer:
        counts[token] += 1
    seen = counts > 0
    seen[prompt] = True
    penalised = torch.where(
        logits > 0, logits / p.repetition_penalty, logits * p.repetition_penalty
    )
    changed = torch.where(seen, penalised, logits)
    changed = changed - counts * p.frequency_penalty
    return changed - (counts > 0) * p.presence_penalty


_TOKENS = st.lists(st.integers(0, VOCAB - 1), max_size=120)


@given(
    seed=st.integers(0, 2**32),
    rows=st.lists(
        st.tuples(
            _TOKENS.filter(len),
            _TOKENS,
            st.lists(st.integers(0, 9), max_size=4),
            st.sampled_from([1.0, 1.05, 1.3, 0.5]),
            st.sampled_from([0.0, 0.4, -0.5]),
            st.sampled_from([0.0, 0.2]),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_penalties_change_the_tokens_that_have_come_and_no_other(seed, rows):
    logits = torch.randn(len(rows), VOCAB, generator=torch.Generator().manual_seed(seed)) * 3
    asked, wanted = [], logits.clone()
    for index, (prompt, answer, draft, repetition, frequency, presence) in enumerate(rows):
        request = make_request(
            prompt,
            answer,
            temperature=0.0,
            repetition_penalty=repetition,
            frequency_penalty=frequency,
            presence_penalty=presence,
        )
        asked.append(LogitsRow(request, tuple(draft)))
        wanted[index] = plain_penalties(logits[index], prompt, [*answer, *draft], request.sampling)
    found = logits.clone()
    Sampler(frozenset([EOS]))(found, asked)
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_logit_bias_forces_and_forbids():
    logits = torch.zeros(1, VOCAB)
    assert sample(logits, [make_request(temperature=0.0, logit_bias={77: 100.0})]) == [77]
    logits[0, 12] = 5.0
    assert sample(logits, [make_request(temperature=0.0, logit_bias={12: -100.0})]) != [12]


def test_min_tokens_forbids_every_end():
    logits = torch.zeros(1, VOCAB)
    logits[0, [EOS, 50, 60]] = torch.tensor([9.0, 8.0, 7.0])
    sampling = {"temperature": 0.0, "min_tokens": 2, "stop_token_ids": (50,)}
    assert sample(logits, [make_request(output=(1,), **sampling)]) == [60]
    assert sample(logits, [make_request(output=(1, 1), **sampling)]) == [EOS]


@given(seed=st.integers(0, 2**63 - 1), top=st.integers(0, 5))
def test_logprobs_are_of_the_models_own_distribution(seed, top):
    logits = peaked()[None]
    request = make_request(seed=seed, temperature=0.3, logit_bias={10: -50.0}, logprobs=top)
    [sampled] = Sampler(frozenset([EOS]))(logits.clone(), [LogitsRow(request)])
    wanted = logits[0].log_softmax(-1)
    assert sampled.logprobs is not None
    assert sampled.logprobs.chosen == pytest.approx(float(wanted[sampled.token_id]))
    assert sampled.logprobs.top_token_ids == wanted.topk(top).indices.tolist()


@pytest.mark.parametrize("temperature", [1e-40, 1e-300, 1e-6])
def test_tiny_temperature_is_greedy(temperature):
    request = make_request(temperature=temperature, seed=3)
    assert sample(peaked()[None], [request]) == [10]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_tiny_repetition_penalty_prefers_the_likeliest_seen_token(temperature):
    request = make_request(prompt=(20, 30, 900), repetition_penalty=1e-300, temperature=temperature)
    assert sample(peaked()[None], [request]) == [20]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_logits_that_are_not_finite_raise_an_error_with_the_request(value, temperature):
    logits = peaked().repeat(2, 1)
    logits[1, 7] = value
    good, bad = (make_request(temperature=temperature) for _ in range(2))
    bad.request_id = "bad"
    with pytest.raises(LogitsNotFiniteError, match="of request bad"):
        sample(logits, [good, bad])
