"""What a grammar forces is drafted: the same answers in fewer steps."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from llguidance import LLMatcher

from inference.config import EngineConfig, SchedulerConfig, SpeculationConfig
from inference.core import Request, SamplingParams
from inference.core_main import make_proposers
from inference.engine.engine_core import EngineCore
from inference.parallel import launch
from inference.runner.model_runner import ModelRunner
from inference.sampling.guide import Guides
from inference.server.schemas import ChatRequest
from inference.server.tools import ToolUse
from inference.speculation.forced_tokens import ForcedTokens
from inference.speculation.speculator import Speculator
from inference.text.load import load_text
from tests.inference.conftest import Driver, greedy
from tests.inference.test_parallel import ForkedRank
from tests.inference.tiny import make_tiny_model

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"enum": ["Paris", "Rome"]},
        "is_warm": {"type": "boolean"},
        "title": {"type": "string", "maxLength": 3},
    },
    "required": ["city", "is_warm", "title"],
    "additionalProperties": False,
    "x-guidance": {"whitespace_flexible": False},
}
JSON = LLMatcher.grammar_from_json_schema(json.dumps(SCHEMA))
REGEX = LLMatcher.grammar_from_regex("it is (very |quite )?(warm|cold) today[.]")
LAZY = 'start: TEXT | head "call" " of " NAME\nTEXT: /(?s:.+)/ & ~/(?s:.*)<<(?s:.*)/\n'
LAZY += 'head[lazy]: /(?s:.*)<</\nNAME: "one thing" | "one more" | "two"'
PROMPTS = [list(f"What is the weather in {city}?".encode()) for city in ("Rome", "Oslo", "Lima")]


class Recorder(Driver):
    """A driver that keeps the log probabilities too."""

    def __init__(self, core: EngineCore) -> None:
        super().__init__(core)
        self.logprobs: dict[str, list[float]] = {}

    def step(self) -> None:
        for output in self.core.step():
            self.tokens[output.request_id] += output.new_token_ids
            shown = [x for each in output.logprobs or [] for x in (each.chosen, *each.top_logprobs)]
            self.logprobs.setdefault(output.request_id, []).extend(shown)
            if output.finish_reason:
                self.reasons[output.request_id] = output.finish_reason


@pytest.fixture(scope="module")
def runner(tmp_path_factory) -> tuple[EngineConfig, ModelRunner]:
    folder = make_tiny_model(tmp_path_factory.mktemp("tiny"))
    config = EngineConfig(model=str(folder), dtype="float32", num_blocks=32, num_threads=1)
    return config, ModelRunner(config)


def drive(runner, *, drafts=True, proposers=None, max_draft=7, **scheduler) -> Recorder:
    config, model = runner
    changed = msgspec.structs.replace(
        config,
        prefix_cache=False,
        scheduler=SchedulerConfig(**scheduler),
        speculation=SpeculationConfig(max_tokens=max_draft),
    )
    if proposers is None:
        proposers = make_proposers(changed, model) if drafts else []
    return Recorder(EngineCore(changed, model, proposers))


def held(grammar: str = JSON, **fields: Any) -> SamplingParams:
    return greedy(**{"max_tokens": 120, "grammar": grammar, **fields})


@pytest.mark.parametrize("grammar", [JSON, REGEX])
@pytest.mark.parametrize(
    "fields",
    [
        {"logprobs": 3},
        {"temperature": 1.3, "seed": 4, "logprobs": 0},
        {"temperature": 0.9, "top_p": 0.8, "frequency_penalty": 0.7, "seed": 6},
        {"repetition_penalty": 1.4, "logit_bias": {66: 9.0, 49: -9.0}},
    ],
)
def test_answer_is_the_same_in_half_the_steps(runner, fields, grammar):
    plain, drafting = drive(runner, drafts=False), drive(runner)
    answer = plain.generate(PROMPTS[0], held(grammar, **fields))
    assert drafting.generate(PROMPTS[0], held(grammar, **fields)) == answer
    assert drafting.reasons == plain.reasons == {"r1": "stop"}
    assert drafting.logprobs["r1"] == pytest.approx(plain.logprobs["r1"], abs=1e-4)
    stats = drafting.core.stats()
    assert stats.steps <= plain.core.stats().steps / 2


def test_answers_of_a_batch_are_those_of_each_alone(runner):
    """Two with a grammar and two without, which begin one after another."""
    fields: list[SamplingParams] = [
        held(JSON, temperature=1.1, seed=3),
        greedy(max_tokens=30, ignore_eos=True),
        held(REGEX),
        greedy(max_tokens=30, ignore_eos=True, temperature=0.8, seed=9),
    ]
    alone = [drive(runner, drafts=False).generate(PROMPTS[0], each) for each in fields]
    driver = drive(runner)
    ids = []
    for each in fields:
        ids.append(driver.add(PROMPTS[0], each))
        driver.step()
        driver.step()
    tokens = driver.run()
    assert [tokens[i] for i in ids] == alone


def test_answer_is_cut_where_it_is_without_drafts(runner):
    answer = drive(runner, drafts=False).generate(PROMPTS[0], held())
    for length in range(1, len(answer)):
        driver = drive(runner)
        request = driver.add(PROMPTS[0], held(max_tokens=length))
        assert driver.run()[request] == answer[:length]
        assert driver.reasons[request] == "length"
    [stop] = load_text(runner[0].model)[0].encode("_")  # of "is_warm": inside of what is forced
    driver = drive(runner)
    request = driver.add(PROMPTS[0], held(stop_token_ids=(stop,)))
    assert driver.run()[request] == answer[: answer.index(stop) + 1]
    assert driver.reasons[request] == "stop"


def test_answer_whose_end_is_ignored_goes_on_as_without_drafts(runner):
    """Nothing but the end is left again and again, under drafts that are right and wrong."""

    class Wrong:
        def propose(self, asked):
            [end] = runner[1].eos_token_ids
            return [[end, 70, end][:count] for _, count in asked]

    fields = held(REGEX, ignore_eos=True, max_tokens=40)
    answer = drive(runner, drafts=False).generate(PROMPTS[0], fields)
    assert drive(runner).generate(PROMPTS[0], fields) == answer
    assert drive(runner, proposers=[Wrong()]).generate(PROMPTS[0], fields) == answer


def test_answer_that_could_have_ended_goes_on_as_without_drafts(runner):
    """Each second token may be the last, is drafted so, and is not."""
    [end] = runner[1].eos_token_ids

    class End:
        def propose(self, asked):
            return [[end, end][:count] for _, count in asked]

    fields = held(LLMatcher.grammar_from_regex("(ab){1,9}"), logit_bias={end: -30.0})
    answer = drive(runner, drafts=False).generate(PROMPTS[0], fields)
    assert len(answer) == 19
    assert drive(runner, proposers=[End()]).generate(PROMPTS[0], fields) == answer


@pytest.mark.parametrize("num_seqs", [3, 9])
def test_answers_are_the_same_when_requests_are_preempted_in_the_middle(runner, num_seqs):
    prompts = [[65 + i, *PROMPTS[i % 3]] for i in range(9)]
    plain = [drive(runner, drafts=False).generate(prompt, held()) for prompt in prompts]
    driver = drive(runner, max_num_seqs=num_seqs)
    ids = [driver.add(prompt, held()) for prompt in prompts]
    for _ in range(12):
        driver.step()
        running = driver.core.scheduler.running
        if num_seqs < 9 and running:
            driver.core.scheduler._preempt(running[0])
    tokens = driver.run()
    assert [tokens[i] for i in ids] == plain
    assert driver.core.scheduler.preemptions > 0


def test_aborted_request_leaves_the_others_as_they_were(runner):
    plain = [drive(runner, drafts=False).generate(prompt, held()) for prompt in PROMPTS]
    driver = drive(runner)
    ids = [driver.add(prompt, held()) for prompt in PROMPTS]
    for _ in range(3):
        driver.step()
    driver.core.abort([ids[1]])
    tokens = driver.run()
    assert [tokens[ids[0]], tokens[ids[2]]] == [plain[0], plain[2]]
    assert len(tokens[ids[1]]) < len(plain[1])


def test_continued_answer_is_drafted_from_where_it_is(runner):
    answer = drive(runner, drafts=False).generate(PROMPTS[0], held(temperature=1.2, seed=2))
    for cut in (1, 5, 12, len(answer) - 2):
        begun = tuple(answer[:cut])
        fields = held(temperature=1.2, seed=2, grammar_prefix=begun, continued_tokens=cut)
        driver = drive(runner)
        assert driver.generate([*PROMPTS[0], *begun], fields) == answer[cut:]


def test_wrong_drafts_change_no_answer_that_a_grammar_holds(runner):
    """Tokens that it allows, and does not, and its end before it ends."""

    class Random:
        def __init__(self) -> None:
            self._random = random.Random(5)

        def propose(self, asked):
            likely = [*likely_text, *runner[1].eos_token_ids]
            return [self._random.choices(likely, k=count) for _, count in asked]

    likely_text = load_text(runner[0].model)[0].encode('{}":,_ aeiPR')
    for grammar in (JSON, REGEX, LAZY):
        for seed in range(4):
            fields = held(grammar, temperature=1.4, seed=seed, max_tokens=60)
            answer = drive(runner, drafts=False).generate(PROMPTS[0], fields)
            assert drive(runner, proposers=[Random()]).generate(PROMPTS[0], fields) == answer


def test_step_that_fails_is_repeated_with_the_same_answer(runner):
    plain = [drive(runner, drafts=False).generate(prompt, held()) for prompt in PROMPTS]
    driver = drive(runner)
    ids = [driver.add(prompt, held()) for prompt in PROMPTS]
    model, fails = driver.core.runner, {2, 7, 12}

    class Failing:
        def __getattr__(self, name):
            return getattr(model, name)

        def execute(self, chunks):
            results = model.execute(chunks)
            if driver.core.stats().steps in fails and len(chunks) > 1:
                raise RuntimeError
            return results

    driver.core.runner = Failing()
    tokens = driver.run()
    assert [tokens[i] for i in ids] == plain
    assert driver.core.stats().failed_steps == 3


def test_no_speculative_tokens_means_no_forced_ones(runner):
    driver = drive(runner, max_draft=0)
    answer = driver.generate(PROMPTS[0], held())
    assert driver.core.stats().steps == len(answer)
    assert driver.core.stats().draft_tokens == 0


def test_forced_tokens_are_drafted_under_load_and_beside_prompts():
    class Six:
        def propose(self, asked):
            return [[7] * count for _, count in asked]

    def lengths(decoding: int, prompts: int) -> list[int]:
        forced = ForcedTokens(Six().propose)
        speculator = Speculator(SpeculationConfig(max_tokens=6), [forced, Six()], 1000)
        requests = [Request(f"r{i}", [1, 2], held(max_tokens=50)) for i in range(decoding)]
        for request in requests:
            request.num_computed = 2
            request.token_ids.append(3)
        requests += [Request(f"p{i}", [1] * 9, greedy()) for i in range(prompts)]
        return [len(tokens) for tokens in speculator.drafts(requests).values()]

    assert lengths(1, 0) == [6]
    assert lengths(2, 1) == [6, 6]
    assert lengths(16, 0) == [2] * 16
    assert lengths(40, 1) == []


@pytest.mark.parametrize("grammar", [JSON, REGEX, LAZY])
def test_masks_along_a_draft_are_those_of_its_tokens_one_by_one(runner, grammar):
    config, model = runner

    def guides() -> Guides:
        text = load_text(config.model)[0]
        return Guides(lambda: text, model.eos_token_ids, model.vocab_size)

    def allowed(guide: Guides, request: Request, drafts: list[tuple[int, ...]]) -> np.ndarray:
        logits = torch.zeros(len(drafts), model.vocab_size)
        guide.prepare([(request, draft) for draft in drafts])
        guide.restrict(logits, range(len(drafts)))
        return logits.isfinite().numpy()

    chance = random.Random(8)
    along, single = guides(), guides()
    for walk in range(12):
        one, other = (Request(f"r{walk}", [65], held(grammar)) for _ in range(2))
        for _ in range(6):
            forced = along.forced([(one, 7)])[0] if chance.random() < 0.5 else []
            draft: list[int] = []
            masks = []
            while len(draft) < 5:  # where the other goes, a token at a time
                masks.append(allowed(single, other, [()])[0])
                options = np.flatnonzero(masks[-1])
                token = forced[len(draft)] if len(draft) < len(forced) else chance.choice(options)
                if token in model.eos_token_ids:
                    break
                assert masks[-1][token]
                draft.append(int(token))
                other.token_ids.append(int(token))
            found = allowed(along, one, [tuple(draft[:i]) for i in range(len(draft) + 1)])
            assert np.array_equal(found[: len(masks)], masks)
            taken = chance.randint(0, len(draft))  # the others were wrong
            one.token_ids += draft[:taken]
            other = Request(f"o{walk}", [65], held(grammar))
            other.token_ids = list(one.token_ids)


def test_ranks_verify_what_is_forced(tmp_path, monkeypatch):
    folder = make_tiny_model(tmp_path, num_key_value_heads=2)
    config = EngineConfig(model=str(folder), dtype="float32", num_blocks=32, num_threads=1)
    answer = drive((config, ModelRunner(config)), drafts=False).generate(PROMPTS[0], held())
    monkeypatch.setattr(launch, "_start", ForkedRank)
    split = msgspec.structs.replace(config, tensor_parallel=2)
    model = ModelRunner(split)
    try:
        driver = drive((split, model))
        assert driver.generate(PROMPTS[0], held()) == answer
        assert driver.core.stats().steps <= len(answer) / 2
    finally:
        model.close()


def test_choices_and_counts_over_http_are_the_same(tiny_served):
    """Several choices at once, each as long as the tokens that it is billed for."""
    body = {"guided_regex": "it is (very )?warm today[.]", "max_tokens": 64, "n": 3, "seed": 5}
    names = ("parley:steps_total", "vllm:generation_tokens_total")
    before = [tiny_served.metric(name) for name in names]
    answer = tiny_served.chat("Hi", **{**body, "temperature": 1.2}).json()
    after = [tiny_served.metric(name) for name in names]
    texts = [choice["message"]["content"] for choice in answer["choices"]]
    assert set(texts) <= {"it is warm today.", "it is very warm today."}
    assert [choice["finish_reason"] for choice in answer["choices"]] == ["stop"] * 3
    tokens = sum(len(text) + 1 for text in texts)  # a byte each, and the end
    assert answer["usage"]["completion_tokens"] == after[1] - before[1] == tokens
    assert after[0] - before[0] <= max(map(len, texts)) / 2


TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
            "required": ["city", "unit"],
        },
    },
}


@pytest.mark.model
@pytest.mark.parametrize("temperature", [0.0, 1.2])
def test_forced_call_is_the_same_in_fewer_steps(
    make_core, model_path: Path, tokenizer, temperature
):
    question = [{"role": "user", "content": "What is the weather in Rome?"}]
    asked = {"messages": question, "tools": [TOOL], "tool_choice": "required"}
    template = load_text(str(model_path))[1]
    assert template is not None
    tools = ToolUse.of(msgspec.convert(asked, ChatRequest), template)
    assert tools is not None
    said = "<|im_start|>user\nWhat is the weather in Rome?<|im_end|>\n<|im_start|>assistant\n"
    fields = held(tools.grammar(tokenizer), temperature=temperature, seed=3, logprobs=2)
    plain = Recorder(make_core(prefix_cache=False))
    answer = plain.generate(tokenizer.encode(said), msgspec.structs.replace(fields, max_tokens=60))
    config = EngineConfig(model=str(model_path))
    model = plain.core.runner
    assert isinstance(model, ModelRunner)
    proposers = make_proposers(config, model)
    drafting = Recorder(make_core(prefix_cache=False, proposers=proposers))
    again = drafting.generate(
        tokenizer.encode(said), msgspec.structs.replace(fields, max_tokens=60)
    )
    assert again == answer and b"get_weather" in b"".join(map(tokenizer.token_bytes, answer))
    assert drafting.logprobs["r1"] == pytest.approx(plain.logprobs["r1"], abs=1e-3)
    # The model chooses whether it writes the format's marks, so those are not all forced.
    assert drafting.core.stats().steps <= plain.core.stats().steps * 0.6
