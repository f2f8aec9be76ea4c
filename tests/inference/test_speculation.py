"""Drafting changes the speed only: same tokens, same distribution, nothing lost."""

from __future__ import annotations

import math
from collections import Counter

import msgspec
import pytest
import torch

from inference.config import EngineConfig, SchedulerConfig, SpeculationConfig
from inference.core import Request, SamplingParams
from inference.core_main import make_proposers
from inference.engine.engine_core import EngineCore
from inference.errors import ModelLoadError
from inference.runner.model_runner import ModelRunner
from inference.sampling.sampler import LogitsRow, Sampler, accepted
from inference.speculation.draft_model import DraftModel
from inference.speculation.predicted_text import PredictedText
from inference.speculation.prompt_lookup import PromptLookup
from inference.speculation.speculator import Speculator
from tests.inference.conftest import Driver, greedy
from tests.inference.serving import serve
from tests.inference.test_families import make_folder
from tests.inference.tiny import make_tiny_model
from tests.support.nightly import crossed

PROMPTS = [[(7 * i + 3 * j * j) % 120 + 3 for j in range(30)] * 2 for i in range(4)]
NEW_TOKENS = 20


class Oracle:
    """Knows some of the answers, and lies from a certain position on."""

    def __init__(self, answers: dict[tuple[int, ...], list[int]], right: int) -> None:
        self._answers = answers
        self._right = right

    def propose(self, asked):
        return [self._draft(request)[:length] for request, length in asked]

    def _draft(self, request: Request) -> list[int]:
        answer = self._answers[tuple(request.prompt_token_ids)]
        truth = answer[request.num_output_tokens :]
        return truth[: self._right] + [5] * 4


@pytest.fixture(scope="module")
def runner(tmp_path_factory) -> tuple[EngineConfig, ModelRunner]:
    folder = tmp_path_factory.mktemp("llama")
    make_folder("llama", folder)
    config = EngineConfig(model=str(folder), dtype="float32", num_blocks=32, num_threads=1)
    return config, ModelRunner(config)


def drive(runner, proposers=(), **scheduler) -> Driver:
    config, model = runner
    changed = EngineConfig(
        model=config.model,
        dtype="float32",
        num_blocks=32,
        scheduler=SchedulerConfig(**scheduler),
        speculation=SpeculationConfig(max_tokens=4, max_rows=20),
    )
    return Driver(EngineCore(changed, model, proposers))


def answers(runner, prompts, proposers=(), **fields) -> list[list[int]]:
    driver = drive(runner, proposers)
    ids = [driver.add(prompt, greedy(max_tokens=NEW_TOKENS, **fields)) for prompt in prompts]
    tokens = driver.run()
    return [tokens[i] for i in ids]


@crossed(
    ("fields", "right"),
    [
        {"ignore_eos": True},
        {},
        {"ignore_eos": True, "temperature": 1.3, "seed": 4},
        {"ignore_eos": True, "temperature": 0.8, "top_p": 0.9, "seed": 5},
        {"ignore_eos": True, "temperature": 1.0, "top_k": 9, "frequency_penalty": 0.7, "seed": 6},
        {"ignore_eos": True, "repetition_penalty": 1.4, "presence_penalty": 0.5},
        {"min_tokens": 9, "logit_bias": {2: 100.0}},
    ],
    [0, 1, 3, 20],
    beside="tests/inference/test_speculation.py::test_drafts_change_no_token",
)
def test_drafts_change_no_token(runner, fields, right):
    plain = answers(runner, PROMPTS, **fields)
    known = {tuple(p): a for p, a in zip(PROMPTS, plain, strict=True)}
    assert answers(runner, PROMPTS, [Oracle(known, right)], **fields) == plain
    assert answers(runner, PROMPTS, [PromptLookup()], **fields) == plain


def test_right_drafts_save_steps(runner):
    plain = drive(runner)
    answer = plain.generate(PROMPTS[0], greedy(max_tokens=NEW_TOKENS, ignore_eos=True))
    drafting = drive(runner, [Oracle({tuple(PROMPTS[0]): answer}, 20)])
    assert drafting.generate(PROMPTS[0], greedy(max_tokens=NEW_TOKENS, ignore_eos=True)) == answer
    stats = drafting.core.stats()
    assert stats.steps <= 6 < plain.core.stats().steps
    assert sum(stats.accepted_per_position) >= 12
    assert stats.draft_tokens >= sum(stats.accepted_per_position)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_expected_text_saves_steps_and_changes_no_token(runner, temperature):
    """The answer with one token changed, and six in its middle that it has not."""
    sampling = greedy(max_tokens=NEW_TOKENS, ignore_eos=True, temperature=temperature, seed=3)
    plain = drive(runner)
    answer = plain.generate(PROMPTS[0], sampling)
    expected = [*answer[:4], answer[4] + 1, *answer[5:9], *[6] * 6, *answer[9:]]
    driver = drive(runner, [PredictedText()])
    request = driver.add(PROMPTS[0], sampling, predicted=expected)
    other = driver.add(PROMPTS[1], sampling)
    assert driver.run()[request] == answer
    right, wrong = driver.predicted[request]
    assert right >= 6 and wrong >= 1
    assert driver.predicted[other] == (0, 0)
    alone = drive(runner, [PredictedText()])
    alone.add(PROMPTS[0], sampling, predicted=answer)
    alone.run()
    assert alone.core.stats().steps < plain.core.stats().steps / 2


def test_prediction_is_counted_over_http(tiny_served):
    body = {
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 24,
        "temperature": 0,
        "ignore_eos": True,
        "stop_on_loop": False,
    }
    plain = tiny_served.http.post("/v1/chat/completions", json=body).json()
    said = plain["choices"][0]["message"]["content"]
    expected = {"type": "content", "content": [{"type": "text", "text": said}]}
    answer = tiny_served.http.post("/v1/chat/completions", json={**body, "prediction": expected})
    assert answer.json()["choices"] == plain["choices"]
    details = answer.json()["usage"]["completion_tokens_details"]
    assert set(details) >= {"accepted_prediction_tokens", "rejected_prediction_tokens"}
    refused = tiny_served.http.post(
        "/v1/chat/completions", json={**body, "prediction": {"type": "content"}}
    )
    assert refused.status_code == 400 and "prediction" in refused.json()["error"]["param"]


@pytest.mark.parametrize("max_tokens", [1, 2, 3, 5])
def test_answer_has_no_more_tokens_than_asked_for(runner, max_tokens):
    [answer] = answers(runner, PROMPTS[:1], ignore_eos=True)
    driver = drive(runner, [Oracle({tuple(PROMPTS[0]): answer}, 20)])
    request = driver.add(PROMPTS[0], greedy(max_tokens=max_tokens, ignore_eos=True))
    assert driver.run()[request] == answer[:max_tokens]
    assert driver.reasons[request] == "length"


def test_stop_token_inside_a_right_draft_ends_the_answer(runner):
    [answer] = answers(runner, PROMPTS[:1], ignore_eos=True)
    stop = next(t for t in answer[2:] if answer.index(t) == 2 or t not in answer[:2])
    upto = answer.index(stop) + 1
    driver = drive(runner, [Oracle({tuple(PROMPTS[0]): answer}, 20)])
    sampling = greedy(max_tokens=NEW_TOKENS, ignore_eos=True, stop_token_ids=(stop,), logprobs=1)
    request = driver.add(PROMPTS[0], sampling)
    assert driver.run()[request] == answer[:upto]
    assert driver.reasons[request] == "stop"


def test_answer_fills_the_context_with_drafts(runner):
    prompt = PROMPTS[0] * 5
    assert len(prompt) > 250
    plain = drive(runner).generate(prompt[:250], greedy(max_tokens=50, ignore_eos=True))
    drafting = drive(runner, [Oracle({tuple(prompt[:250]): plain}, 20)])
    assert drafting.generate(prompt[:250], greedy(max_tokens=50, ignore_eos=True)) == plain
    assert len(plain) == 6


def test_drafts_change_no_token_when_blocks_are_scarce(runner):
    """Nine sequences of up to six blocks in 32: drafts never take a block from others."""
    prompts = [[3 + i, *PROMPTS[i % 4]] for i in range(9)]
    plain = [answers(runner, [prompt], ignore_eos=True)[0] for prompt in prompts]
    known = {tuple(p): a for p, a in zip(prompts, plain, strict=True)}
    driver = drive(runner, [Oracle(known, 2)], max_num_seqs=9)
    ids = [driver.add(p, greedy(max_tokens=NEW_TOKENS, ignore_eos=True)) for p in prompts]
    tokens = driver.run()
    assert [tokens[i] for i in ids] == plain
    assert driver.core.scheduler.preemptions > 0


def test_samples_after_drafts_follow_the_exact_distribution():
    """Chi-square of the first two tokens together, under drafts good and bad."""
    torch.manual_seed(3)
    first = torch.tensor([2.0, 1.0, 0.5, 0.0, -1.0]).log_softmax(-1)
    second = torch.randn(5, 5).log_softmax(-1)  # row: what the first token was
    third = torch.zeros(5)
    sampler, draws = Sampler(frozenset()), 2000
    found: Counter[tuple[int, ...]] = Counter()
    for seed in range(draws):
        draft = (seed % 5, (seed // 5) % 5)
        request = Request("r", [1], SamplingParams(max_tokens=9, seed=seed))
        logits = torch.stack([first, second[draft[0]], third])
        places = [LogitsRow(request, draft[:i]) for i in range(3)]
        tokens = [s.token_id for s in accepted(draft, sampler(logits, places))]
        request.token_ids.extend(tokens)
        while request.num_output_tokens < 2:
            row = second[tokens[0]][None].clone()
            request.token_ids.append(sampler(row, [LogitsRow(request)])[0].token_id)
        found[tuple(request.output_token_ids[:2])] += 1
    wanted = (first.exp()[:, None] * second.exp()).double() * draws
    cells = [(a, b) for a in range(5) for b in range(5) if wanted[a, b] >= 8]
    statistic = sum((found[cell] - wanted[cell]) ** 2 / wanted[cell] for cell in cells)
    freedom = len(cells) - 1
    assert freedom > 10
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)


def decoding_request(name: str, tokens: list[int], **sampling) -> Request:
    """A request with all but its last token computed, which is its answer's first."""
    request = Request(name, tokens[:-1], SamplingParams(**{"max_tokens": 50, **sampling}))
    request.token_ids.append(tokens[-1])
    request.num_computed = len(tokens) - 1
    return request


def test_prompt_lookup_continues_the_latest_longest_repetition():
    lookup = PromptLookup()

    def draft(tokens: list[int], count: int) -> list[int]:
        [found] = lookup.propose([(decoding_request("r", tokens), count)])
        return found

    assert draft([1, 2, 3, 4, 9, 9, 1, 2, 3], 2) == [4, 9]
    assert draft([1, 2, 7, 5, 3, 2, 8, 1, 2], 2) == [7, 5]  # two tokens say more than one
    assert draft([1, 2, 3, 8, 2, 3, 9, 1, 2, 3], 1) == [8]  # three more than two
    assert draft([4, 5, 4, 5, 4, 5], 5) == [4, 5, 4, 5, 4]
    assert draft([1, 2, 3, 4], 3) == []


def test_prompt_lookup_follows_a_growing_request():
    lookup, request = PromptLookup(), decoding_request("r", [1, 2, 3])
    assert lookup.propose([(request, 3)]) == [[]]
    request.token_ids += [7, 8, 1, 2]
    assert lookup.propose([(request, 3)]) == [[3, 7, 8]]


def test_drafts_become_rare_when_wrong_and_longer_when_right():
    config = SpeculationConfig(max_tokens=4, max_rows=8)
    request = decoding_request("r", [1, 2] * 10, max_tokens=500)
    speculator = Speculator(config, [PromptLookup()], 1000)

    def lengths(steps: int, right: bool) -> list[int]:
        found = []
        for _ in range(steps):
            draft = speculator.drafts([request]).get("r", [])
            found.append(len(draft))
            if draft:
                speculator.verified(request, len(draft), len(draft) if right else 0)
        return found

    assert lengths(3, right=True) == [3, 4, 4]
    assert sum(lengths(40, right=False)) < 12
    assert 4 in lengths(40, right=True)


def test_load_switches_drafting_off():
    config = SpeculationConfig(max_tokens=4, max_rows=8)
    decoding = [decoding_request(f"r{i}", [1, 2] * 10) for i in range(5)]

    def total(count: int) -> int:
        speculator = Speculator(config, [PromptLookup()], 1000)
        return sum(map(len, speculator.drafts(decoding[:count]).values()))

    assert [total(count) for count in range(1, 6)] == [3, 6, 3, 4, 0]
    prompt = Request("new", [1] * 9, SamplingParams(max_tokens=5))
    speculator = Speculator(config, [PromptLookup()], 1000)
    assert speculator.drafts([decoding[0], prompt]) == {}


def draft_runner(path, num_blocks: int) -> ModelRunner:
    config = EngineConfig(
        model=str(path), dtype="float32", num_blocks=num_blocks, max_model_len=16 * num_blocks
    )
    return ModelRunner(config)


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_drafts_of_the_model_itself_are_always_right(runner, temperature):
    config, _ = runner
    fields = {"ignore_eos": True, "temperature": temperature, "seed": 8}
    plain = answers(runner, PROMPTS, **fields)
    draft = DraftModel(draft_runner(config.model, 64), 16)
    driver = drive(runner, [draft])
    ids = [driver.add(p, greedy(max_tokens=NEW_TOKENS, **fields)) for p in PROMPTS]
    tokens = driver.run()
    assert [tokens[i] for i in ids] == plain
    stats = driver.core.stats()
    assert stats.draft_tokens == sum(stats.accepted_per_position) > 40
    draft.propose([])
    assert draft.kv.pool.num_used == 0


@pytest.mark.parametrize("num_blocks", [64, 9])
def test_drafts_of_another_model_change_no_token(runner, tmp_path, num_blocks):
    """Also where it has too few blocks to follow everyone."""
    make_folder("qwen2", tmp_path)
    fields = {"ignore_eos": True, "temperature": 0.9, "seed": 8}
    driver = drive(runner, [DraftModel(draft_runner(tmp_path, num_blocks), 16)])
    ids = [driver.add(p, greedy(max_tokens=NEW_TOKENS, **fields)) for p in PROMPTS]
    tokens = driver.run()
    assert [tokens[i] for i in ids] == answers(runner, PROMPTS, **fields)
    stats = driver.core.stats()
    assert stats.draft_tokens > sum(stats.accepted_per_position)


def test_draft_model_with_another_vocabulary_is_refused(runner, tmp_path):
    config, model = runner
    draft = make_tiny_model(tmp_path)
    speculation = SpeculationConfig(draft_model=str(draft))
    with pytest.raises(ModelLoadError, match="vocabulary"):
        make_proposers(msgspec.structs.replace(config, speculation=speculation), model)


def test_draft_model_takes_no_more_memory_than_it_may(runner, tmp_path):
    config, model = runner
    make_folder("llama", tmp_path)
    scarce = msgspec.structs.replace(
        config,
        speculation=SpeculationConfig(draft_model=str(tmp_path)),
        kv_memory_fraction=1e-9,
    )
    with pytest.raises(ModelLoadError, match="0 KV blocks hold 0 tokens"):
        make_proposers(scarce, model)


def test_draft_model_drafts_when_served(tmp_path):
    """The same model as its own draft, through the command line."""
    model = make_tiny_model(tmp_path)
    body = {"prompt": "abcdefgh", "max_tokens": 40, "temperature": 0, "ignore_eos": True}
    options = ("--num-blocks", "40", "--no-prompt-lookup", "--draft-model", str(model))
    with serve(model, *options) as served:
        answer = served.http.post("/v1/completions", json=body).json()
        assert answer["usage"]["completion_tokens"] == 40
        drafted = served.metric("vllm:spec_decode_num_draft_tokens_total")
        assert served.metric("vllm:spec_decode_num_accepted_tokens_total") == drafted > 20


REWRITES = [
    "Repeat this text word for word: The quick brown fox jumps over the lazy dog. The dog sleeps.",
    "Correct the spelling: Teh cat satt on the matt, and the dogg barked at the cat on the mat.",
    "Summarise: Iron is a metal. Iron is used for bridges. Iron is used for tools and for ships.",
    "Write it again with x renamed to y:\ndef f(x):\n    return x * x + x\n",
    "What is the capital of France?",
]


@pytest.mark.model
def test_drafts_change_no_token_of_the_real_model(make_core, tokenizer):
    prompts = [
        tokenizer.encode(f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n")
        for text in REWRITES
    ]

    def run(proposers) -> tuple[list[list[int]], EngineCore]:
        driver = Driver(make_core(prefix_cache=False, proposers=proposers))
        alone = [driver.generate(prompts[0], greedy(max_tokens=20))]
        ids = [driver.add(p, greedy(max_tokens=20)) for p in prompts]
        tokens = driver.run()
        return alone + [tokens[i] for i in ids], driver.core

    plain, _ = run([])
    drafted, core = run([PromptLookup()])
    assert drafted == plain
    assert core.speculator.accepted_tokens > 10


@pytest.mark.model
def test_metrics_count_draft_tokens(served):
    text = "one two three four five six seven eight nine ten. " * 3
    answer = served.http.post(
        "/v1/completions", json={"prompt": text, "max_tokens": 24, "temperature": 0}
    )
    assert answer.json()["usage"]["completion_tokens"] == 24
    drafted = served.metric("vllm:spec_decode_num_draft_tokens_total")
    accepted = served.metric("vllm:spec_decode_num_accepted_tokens_total")
    assert served.metric("vllm:spec_decode_num_drafts_total") > 0
    assert drafted >= accepted > 0
