"""SIGKILL of a web process in the middle of an answer loses nothing that was said."""

from collections.abc import Callable

import pytest

from tests.chaos.conftest import Site, whole_answer
from tests.chaos.reader import Wire

pytestmark = pytest.mark.chaos


@pytest.mark.timeout(240)
def test_a_second_web_process_takes_the_answer_up(start_site: Callable[..., Site]) -> None:
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
