"""The two engines as operators start them: two commands, a key in the environment, HTTP."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import msgspec
import psutil
import pytest
import zmq

from inference.connector.messages import CancelPrefill, PrefillRequest, ToPrefill
from infra.services.ports import free_port
from tests.inference.connector.test_shared_memory import shared_memory
from tests.inference.serving import serve, start, wait_for
from tests.inference.tiny import make_tiny_model


@pytest.mark.parametrize(
    "address",
    [
        "shared memory",
        pytest.param(
            "tcp",
            marks=pytest.mark.nightly(
                beside="tests/inference/connector/test_prefill_engine.py"
                "::test_prompts_are_computed_by_another_process_until_it_is_killed"
            ),
        ),
    ],
    indirect=True,
)
def test_prompts_are_computed_by_another_process_until_it_is_killed(tmp_path, monkeypatch, address):
    """Until that one is gone, in the middle of a prompt: then it computes them itself, and nobody
    notices."""
    before = shared_memory()
    model = make_tiny_model(tmp_path)
    monkeypatch.setenv("PARLEY_PREFILL_API_KEY", "a secret of the whole pool, 32 or more")
    options = ("--kv-dtype", "int8", "--num-blocks", "64")
    other = start(
        *("inference.connector", "--model", str(model)),
        *("--listen", address, "--threads", "1", *options),
    )
    body = {"max_tokens": 8, "temperature": 0, "ignore_eos": True}
    prompts = [[(7 * i * i + 11 * k) % 200 + 3 for i in range(70)] for k in range(2)]
    try:
        with serve(model, "--prefill-from", address, *options) as served:

            def answer(prompt: list[int]) -> dict:
                return served.http.post("/v1/completions", json=body | {"prompt": prompt}).json()

            def was_handed_over() -> bool:
                """The other process may start later than this server: then salted prompts miss."""
                salted = body | {"prompt": prompts[0], "cache_salt": str(free_port())}
                usage = served.http.post("/v1/completions", json=salted).json()["usage"]
                return usage["prompt_tokens_details"]["cached_tokens"] == 64

            wait_for(was_handed_over, timeout_s=60, every_s=0.2)
            first = answer(prompts[0])
            other.send_signal(signal.SIGSTOP)
            with ThreadPoolExecutor(1) as pool:
                # Well within the silence that a peer may keep while it lives.
                asking = pool.submit(answer, prompts[1])
                wait_for(lambda: served.metric("parley:kv_blocks_used") == 4, timeout_s=20)
                other.kill()
                other.wait()
                alone = asking.result(timeout=25)
            assert alone["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
            assert len(alone["choices"][0]["text"]) > 0
            again = answer(prompts[0])
            assert again["choices"][0]["text"] == first["choices"][0]["text"]
            served.wait_until_idle()
            assert shared_memory() == before
    finally:
        other.kill()
        other.wait()


@pytest.fixture
def silent() -> Iterator[tuple[str, zmq.Socket[bytes]]]:
    """The address and the socket of a prefill engine that takes prompts and answers none."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        port = socket.bind_to_random_port("tcp://127.0.0.1")
        yield f"tcp://127.0.0.1:{port}", socket
        socket.linger = 0


def test_deadlines_and_aborts_hold_while_a_prompt_is_away(tmp_path, silent):
    model = make_tiny_model(tmp_path)
    address, socket = silent
    prompt = [(7 * i * i) % 200 + 3 for i in range(70)]

    def received() -> tuple[bytes, PrefillRequest | CancelPrefill]:
        assert socket.poll(20_000), "no message came"
        sender, *_, message = socket.recv_multipart()
        return sender, msgspec.msgpack.decode(message, type=ToPrefill)

    with serve(model, "--prefill-from", address, "--num-blocks", "64") as served:
        body = {"prompt": prompt, "max_tokens": 8, "ignore_eos": True}
        answer = served.http.post("/v1/completions", json=body | {"timeout_s": 3}).json()
        assert answer["choices"][0]["finish_reason"] == "timeout"
        sender, asked = received()
        assert isinstance(asked, PrefillRequest)
        assert asked.token_ids == prompt
        assert asked.timeout_s is not None
        assert asked.timeout_s <= 3
        assert received() == (sender, CancelPrefill())

        with pytest.raises(httpx.ReadTimeout):
            served.http.post("/v1/completions", json=body, timeout=3)
        sender, asked = received()
        assert isinstance(asked, PrefillRequest)
        assert received() == (sender, CancelPrefill())
        assert served.http.post("/v1/completions", json=body | {"prompt": [3]}).status_code == 200


def test_core_process_ends_with_its_server_while_a_prompt_is_away(tmp_path, silent):
    model = make_tiny_model(tmp_path)
    address, socket = silent
    body = {"prompt": [(7 * i * i) % 200 + 3 for i in range(70)], "max_tokens": 8}
    with serve(model, "--prefill-from", address, "--num-blocks", "64") as served:
        [core] = psutil.Process(served.process.pid).children()
        with ThreadPoolExecutor(1) as pool:
            asking = pool.submit(served.http.post, "/v1/completions", json=body)
            assert socket.poll(20_000)
            served.process.kill()
            with pytest.raises(httpx.TransportError):
                asking.result()
        core.wait(timeout=60)
