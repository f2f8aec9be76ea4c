"""Simulated time: it jumps, in order, and a deadlock is told."""

import asyncio
import time

import pytest

from infra.simulator import virtual_time


def test_hours_pass_at_once_and_in_order() -> None:
    async def main() -> list[tuple[float, str]]:
        seen: list[tuple[float, str]] = []

        async def note(after_s: float, name: str) -> None:
            await asyncio.sleep(after_s)
            seen.append((virtual_time.now(), name))

        await asyncio.gather(note(7200, "late"), note(0.5, "early"), note(3600, "middle"))
        return seen

    began = time.monotonic()
    seen = virtual_time.run(main())
    assert [name for _, name in seen] == ["early", "middle", "late"]
    assert [round(at, 6) for at, _ in seen] == [0.5, 3600, 7200]
    assert time.monotonic() - began < 600


def test_timeouts_are_in_simulated_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.sleep(1000)
        return virtual_time.now()

    assert round(virtual_time.run(main()), 6) == 30


def test_deadlock_is_an_error() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(virtual_time.NothingLeftError):
        virtual_time.run(main())
