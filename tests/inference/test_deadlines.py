"""Deadlines give the partial answer; who waits too long to begin is refused clearly."""

from __future__ import annotations

import json

import pytest

from inference.config import EngineConfig, SchedulerConfig
from inference.core import FinishReason
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import greedy
from tests.inference.serving import serve
from tests.inference.test_families import make_folder

PROMPT = [(11 * i) % 100 + 3 for i in range(20)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def core(tmp_path, clock) -> EngineCore:
    make_folder("llama", tmp_path)
    config = EngineConfig(
        model=str(tmp_path),
        dtype="float32",
        num_blocks=32,
        num_threads=1,
        scheduler=SchedulerConfig(max_num_seqs=1, max_wait_s=10.0),
    )
    return EngineCore(config, ModelRunner(config), clock=clock)


def add(core: EngineCore, name: str, **fields) -> None:
    core.add(AddRequest(name, PROMPT, greedy(max_tokens=100, ignore_eos=True), **fields))


def test_answer_ends_with_its_tokens_so_far_at_its_deadline(core, clock):
    add(core, "a", deadline=5.0)
    tokens: list[int] = []
    for second in range(5):
        clock.now = float(second)
        [output] = core.step()
        tokens += output.new_token_ids
        assert output.finish_reason is None
    clock.now = 5.0
    [last] = core.step()
    assert last.finish_reason is FinishReason.TIMEOUT
    assert last.new_token_ids == []
    assert len(tokens) == 5
    assert core.kv.pool.num_used == 0
    assert not core.scheduler.has_work


def test_waiting_request_ends_at_its_deadline(core, clock):
    add(core, "runs")
    add(core, "waits", deadline=3.0)
    core.step()
    clock.now = 3.0
    ended = {o.request_id: o.finish_reason for o in core.step() if o.finish_reason}
    assert ended == {"waits": FinishReason.TIMEOUT}


def test_request_is_refused_when_it_waited_too_long_to_begin(core, clock):
    add(core, "runs")
    core.step()
    clock.now = 4.0
    add(core, "waits", arrived_at=4.0)
    clock.now = 14.0
    assert all(o.finish_reason is None for o in core.step())
    clock.now = 14.5
    ended = {o.request_id: o.finish_reason for o in core.step() if o.finish_reason}
    assert ended == {"waits": FinishReason.QUEUE_TIMEOUT}
    assert core.scheduler.find("runs") is not None


@pytest.mark.model
def test_deadline_and_queue_timeout_are_answered_over_http(model_path):
    """One seat: who waits too long behind a long answer, and answers with a deadline in them."""
    options = ("--max-num-seqs", "1", "--max-wait", "0.3", "--num-blocks", "520")
    with serve(model_path, *options) as served:
        body = {"prompt": "Once", "ignore_eos": True, "temperature": 0, "max_tokens": 8000}
        with served.http.stream("POST", "/v1/completions", json=body | {"stream": True}) as long:
            lines = long.iter_lines()
            next(lines)
            refused = served.http.post("/v1/completions", json={"prompt": "Never"})
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "queue_timeout"
        assert int(refused.headers["retry-after"]) > 0
        served.wait_until_idle()

        answer = served.http.post("/v1/completions", json=body | {"timeout_s": 0.5}).json()
        assert answer["choices"][0]["finish_reason"] == "timeout"
        assert 0 < answer["usage"]["completion_tokens"] < 8000
        assert answer["choices"][0]["text"]
        served.wait_until_idle()

        with served.http.stream(
            "POST", "/v1/completions", json=body | {"timeout_s": 0.5, "stream": True}
        ) as stream:
            events = [line for line in stream.iter_lines() if line]
        assert events[-1] == "data: [DONE]"
        last = json.loads(events[-2].removeprefix("data: "))
        assert last["choices"][0]["finish_reason"] == "timeout"
