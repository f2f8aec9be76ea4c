"""A web process that dies, hangs or is told to go in the middle of an answer loses nothing."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from tests.chaos.conftest import Site, whole_answer
from tests.chaos.reader import Wire
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]


def test_killed_a_second_process_takes_the_answer_up(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site(webs=2)
    wire = Wire()
    generation_id = site.ask(wire, until=12, web=0)

    site.product.webs[0].process.kill()
    site.resume(generation_id, wire, web=1)

    whole_answer(wire)
    site.check_books(generation_id, wire)
    # It was continued, not generated again: the upstream was asked for the rest only.
    assert [served.path for served in site.upstream.served] == ["/v1/chat/completions"] * 2
    continued = site.upstream.served[1].body
    assert continued["continue_final_message"] is True
    assert wire.text.startswith(continued["messages"][-1]["content"])


def test_killed_alone_it_goes_on_where_it_was(start_site: Callable[..., Site[Product]]) -> None:
    site = start_site()
    wire = Wire()
    generation_id = site.ask(wire, until=12)

    [web] = site.product.webs
    web.process.kill()
    web.process.start()
    site.product.wait_until_ready(web)
    site.resume(generation_id, wire)

    whole_answer(wire)
    site.check_books(generation_id, wire)


def test_stopped_and_thought_dead_it_can_neither_write_nor_bill(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site(webs=2)
    wire = Wire()
    generation_id = site.ask(wire, until=12, web=0)
    slow = site.product.webs[0].process.pid

    os.kill(slow, signal.SIGSTOP)
    site.resume(generation_id, wire, web=1)
    os.kill(slow, signal.SIGCONT)
    time.sleep(3)  # for it to find out, and to try what it must not

    whole_answer(wire)
    site.check_books(generation_id, wire)
    again = Wire()
    site.resume(generation_id, again, web=0)
    assert again.events == wire.events


def test_told_to_go_it_hands_over(start_site: Callable[..., Site[Product]]) -> None:
    site = start_site(webs=2, settings={"PARLEY_DRAIN_S": "1"})
    wire = Wire()
    generation_id = site.ask(wire, until=12, web=0)

    site.product.webs[0].process.stop()
    site.resume(generation_id, wire, web=1)

    whole_answer(wire)
    site.check_books(generation_id, wire)
