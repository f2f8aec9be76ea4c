"""A test that hangs says what it waited for."""

import asyncio

from tests.support.hang import waiting_tasks


async def wait_for_ever(event: asyncio.Event) -> None:
    await event.wait()


async def test_tasks_of_a_hanging_test_are_shown_with_what_they_await() -> None:
    async def outer() -> None:
        await wait_for_ever(asyncio.Event())

    task = asyncio.create_task(outer(), name="the one that hangs")
    await asyncio.sleep(0)
    shown = waiting_tasks()
    task.cancel()
    assert "Task the one that hangs\n" in shown
    assert shown.index("outer") < shown.index("wait_for_ever") < shown.index("Event.wait")


def test_nothing_is_shown_where_no_loop_runs() -> None:
    assert waiting_tasks() == ""
