"""A step that throws fails what was in it, and leaves neither blocks nor wrong cache behind."""

from __future__ import annotations

import pytest

from inference.engine.core import EngineCore
from tests.inference.conftest import Driver, greedy
from tests.inference.test_families import make_driver, make_folder

PROMPT = [(11 * i) % 100 + 3 for i in range(40)]


class Failing:
    """A runner that fails when told to, before or after it wrote to the cache."""

    def __init__(self, runner, *, after: bool) -> None:
        self._runner = runner
        self._after = after
        self.armed = False

    def __getattr__(self, name):
        return getattr(self._runner, name)

    def execute(self, chunks):
        if self.armed and not self._after:
            self.armed = False
            raise RuntimeError("out of memory")
        results = self._runner.execute(chunks)
        if self.armed:
            self.armed = False
            raise RuntimeError("out of memory")
        return results


@pytest.fixture
def driver(tmp_path) -> Driver:
    make_folder("llama", tmp_path)
    return make_driver(tmp_path, max_num_seqs=2, max_num_batched_tokens=64)


def fail_next_step(driver: Driver, *, after: bool) -> None:
    core: EngineCore = driver.core
    failing = Failing(core.runner, after=after)
    core.runner = failing
    failing.armed = True


@pytest.mark.parametrize("after", [False, True])
def test_only_the_step_s_own_requests_fail(driver, after):
    alone = driver.generate(PROMPT, greedy(max_tokens=6, ignore_eos=True))
    first = driver.add(PROMPT, greedy(max_tokens=6, ignore_eos=True))
    second = driver.add([5, *PROMPT], greedy(max_tokens=6, ignore_eos=True))
    waiting = driver.add(PROMPT, greedy(max_tokens=6, ignore_eos=True))
    fail_next_step(driver, after=after)
    driver.step()
    assert driver.reasons == {
        "r1": "length",
        first: "error",
        second: "error",
    }
    assert driver.core.kv.pool.num_used == 0
    tokens = driver.run()
    assert tokens[waiting] == alone


def test_blocks_of_a_failed_step_are_not_found_again(driver):
    fail_next_step(driver, after=False)
    driver.add(PROMPT)
    driver.step()
    assert driver.core.kv.pool.cached() == {}
    again = driver.add(PROMPT)
    driver.run()
    assert driver.cached[again] == 0
