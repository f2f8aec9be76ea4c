"""Block tables kept between steps are those that would be built anew."""

from __future__ import annotations

import hypothesis.strategies as st
import torch
from hypothesis import given

from inference.core import Request, SamplingParams
from inference.runner.block_tables import BlockTables

WIDTH = 12


def built_anew(requests: list[Request], width: int) -> list[list[int]]:
    return [(request.block_ids + [0] * width)[:width] for request in requests]


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["grow", "preempt", "end", "look"]),
            st.integers(0, 3),
            st.integers(1, 5),
        ),
        max_size=40,
    )
)
def test_tables_follow_requests_that_grow_are_preempted_and_end(steps):
    tables = BlockTables(WIDTH, torch.device("cpu"))
    requests = [Request(f"r{i}", [1], SamplingParams(max_tokens=1)) for i in range(4)]
    number = 0
    for action, which, count in steps:
        request = requests[which]
        if action == "grow":
            new = range(number + 1, number + 1 + min(count, WIDTH - len(request.block_ids)))
            request.block_ids.extend(new)
            number += len(new)
        elif action == "preempt":
            request.tables[0].block_ids = []
        elif action == "end":
            requests[which] = Request(f"r{number}", [1], SamplingParams(max_tokens=1))
        asked = [*requests[which:], request] if action == "look" else requests
        found = tables.of(asked, count)
        assert found.tolist() == built_anew(asked, count)
        assert found.dtype == torch.int32
        assert found.is_contiguous()


def test_rows_of_ended_requests_are_used_again():
    tables = BlockTables(WIDTH, torch.device("cpu"))
    for number in range(100):
        request = Request(f"r{number}", [1], SamplingParams(max_tokens=1))
        request.tables[0].block_ids = [number] * (1 + number % 3)
        assert tables.of([request], 3).tolist() == built_anew([request], 3)
        del request
    assert len(tables._tables) == 8
