"""Blocks leave layer by layer while a prompt is computed; used are those of all layers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import pytest
import zmq

from inference.config import SchedulerConfig
from inference.connector.messages import (
    VERSION,
    CancelPrefill,
    FromPrefill,
    LayerBlocks,
    PrefillDone,
    PrefillRequest,
    Refusal,
    Refused,
    ToPrefill,
    frames,
)
from inference.connector.prefill_server import PrefillServer
from inference.connector.remote_prefill import RemotePrefill
from inference.connector.zmq_connector import PrefillTask, ZmqConnector
from inference.core import Chunk, Request
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest
from inference.runner.model_runner import ModelRunner
from infra.services.ports import free_port
from tests.inference.conftest import Driver, greedy
from tests.inference.connector.prefilling import (
    PROMPT,
    Sent,
    answer,
    asked,
    make_engine,
    prefill_engine,
    task,
)
from tests.inference.connector.test_shared_memory import shared_memory
from tests.inference.serving import wait_for

CHUNK = SchedulerConfig(max_num_batched_tokens=32)
"""PROMPT takes three steps: two full blocks, two more, the rest."""


def test_layers_leave_one_by_one_before_their_step_has_ended(model):
    core, runner = make_engine(model)
    in_step: list[bool] = []

    class Observed(Sent):
        def __call__(self, peer, message, data=b""):
            in_step.append(core.stats().steps == 0)
            return super().__call__(peer, message, data)

    sent = Observed()
    server = PrefillServer(core, runner, sent)
    server.take(b"peer", asked(PROMPT, runner))
    server.step()
    layers = runner.blocks.num_layers
    assert layers > 1
    parts = [message for _, message in sent.said]
    assert parts[:-1] == [LayerBlocks(layer, 0, 4) for layer in range(layers)]
    assert isinstance(parts[-1], PrefillDone)
    assert in_step == [True] * layers + [False]


def test_layer_leaves_before_the_next_one_is_computed(model):
    """What has gone of the first layer is right, while the second holds nothing yet."""
    core, runner = make_engine(model)
    seen: list[tuple[int, bool]] = []

    class Observed(Sent):
        def __call__(self, peer, message, data=b""):
            if isinstance(message, LayerBlocks) and message.layer == 0:
                own = core.scheduler.running[0].block_ids[:4]
                seen.append((len(data), any(runner.blocks.read_layer(1, own))))
            return super().__call__(peer, message, data)

    server = PrefillServer(core, runner, Observed())
    server.take(b"peer", asked(PROMPT, runner))
    server.step()
    assert seen == [(runner.blocks.layer_size(0, 4), False)]


def test_chunks_leave_after_each_step(model):
    core, runner = make_engine(model, scheduler=CHUNK)
    sent = Sent()
    server = PrefillServer(core, runner, sent)
    server.take(b"peer", asked(PROMPT, runner))
    counts = []
    for _ in range(3):
        before = len(sent.said)
        server.step()
        new = [message for _, message in sent.said[before:]]
        counts.append({(p.first_block, p.num_blocks) for p in new if isinstance(p, LayerBlocks)})
    assert counts == [{(0, 2)}, {(2, 2)}, set()]
    [(_, done)] = sent.ends()
    assert isinstance(done, PrefillDone)
    assert done.num_blocks == 4


def test_blocks_that_a_step_computes_again_have_gone_once(model):
    """A step runs out of memory after its first layer and is repeated in halves: a block of a layer
    leaves once, or its receiver refuses it."""
    core, runner = make_engine(model, scheduler=CHUNK)
    _, receiver = make_engine(model)
    own = task(PROMPT, receiver)
    ends: list[FromPrefill] = []

    def send(peer: bytes, message: FromPrefill, data: bytes = b"") -> bool:
        if isinstance(message, LayerBlocks):
            own.incoming.take(message, data)
        else:
            ends.append(message)
        return True

    server = PrefillServer(core, runner, send)
    notify = runner.written
    assert notify is not None
    fails = iter([True])

    def fail_once(chunks: list[Chunk], num_layers: int) -> None:
        notify(chunks, num_layers)
        if num_layers == 1 and next(fails, False):
            raise MemoryError

    runner.written = fail_once
    server.take(b"peer", asked(PROMPT, runner))
    for _ in range(8):
        server.step()
    assert core.stats().failed_steps == 1
    assert [type(end) for end in ends] == [PrefillDone]
    assert own.incoming.num_whole == 4
    [computed] = core.kv.find_prefix(Request("probe", PROMPT, greedy())).blocks
    assert receiver.blocks.read(range(4)) == runner.blocks.read(computed)


def test_nothing_more_is_computed_for_a_peer_that_is_gone(model):
    core, runner = make_engine(model, scheduler=CHUNK)
    sent = Sent()
    server = PrefillServer(core, runner, sent)
    server.take(b"peer", asked(PROMPT, runner))
    sent.gone.add(b"peer")
    server.step()
    assert not core.scheduler.has_work
    assert core.kv.pool.num_used == 0


def test_message_without_a_version_is_refused_by_name(model):
    """As peers sent it before there were versions; the word is where they look for one."""
    core, runner = make_engine(model)
    sent = Sent()
    server = PrefillServer(core, runner, sent)
    old = {"type": "prefill", "model": runner.blocks.fingerprint, "token_ids": PROMPT}
    server.take(b"peer", [b"", msgspec.msgpack.encode(old)])
    [(_, refused)] = sent.ends()
    assert isinstance(refused, Refused)
    assert refused.refusal is Refusal.OTHER_VERSION
    assert VERSION.decode() in refused.error
    assert not core.scheduler.has_work
    last_frame = msgspec.msgpack.decode(frames(refused)[-1])
    assert last_frame["refusal"] == "other_version"


class Peer:
    """A prefill engine that says what a test wants."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked = threading.Event()
        self.cancelled = threading.Event()

    def run(
        self, socket: zmq.Socket[bytes], script: list[list[bytes]], stop: threading.Event
    ) -> None:
        while not stop.is_set():
            if not socket.poll(20):
                continue
            sender, *_, said = socket.recv_multipart()
            if isinstance(msgspec.msgpack.decode(said, type=ToPrefill), CancelPrefill):
                self.cancelled.set()
                continue
            self.asked.set()
            for message in script:
                socket.send_multipart([sender, *message])


@contextmanager
def scripted(*script: list[bytes]) -> Iterator[Peer]:
    """A peer that says this to each prompt."""
    stop = threading.Event()
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.linger = 0
        peer = Peer(f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}")
        thread = threading.Thread(target=peer.run, args=(socket, list(script), stop))
        thread.start()
        try:
            yield peer
        finally:
            stop.set()
            thread.join()


def part(runner: ModelRunner, layer: int, first: int, count: int, cut: int = 0) -> list[bytes]:
    """Zeros for some blocks."""
    size = runner.blocks.layer_size(layer, count) - cut
    return frames(LayerBlocks(layer, first, count), bytes(size))


def all_but_last_layer(runner: ModelRunner) -> list[list[bytes]]:
    return [part(runner, layer, 0, 4) for layer in range(runner.blocks.num_layers - 1)]


WRONG: dict[str, Callable[[ModelRunner], list[list[bytes]]]] = {
    "a layer is missing": lambda r: [*all_but_last_layer(r), frames(PrefillDone(4, 0.0))],
    "too few bytes": lambda r: [part(r, 0, 0, 4, cut=1)],
    "a layer that is not there": lambda r: [frames(LayerBlocks(99, 0, 4), b"data")],
    "a gap": lambda r: [part(r, 0, 2, 2)],
    "twice": lambda r: [part(r, 0, 0, 4), part(r, 0, 0, 4)],
    "more blocks than the prompt": lambda r: [part(r, 0, 0, 9)],
    "no blocks": lambda r: [part(r, 0, 0, 0)],
    "before the first": lambda r: [part(r, 0, -1, 1)],
    "no version": lambda r: [[b"", msgspec.msgpack.encode({"num_blocks": 4, "data": b"old"})]],
    "no message": lambda r: [[b"", VERSION, b"\xc1"]],
    "another model": lambda r: [frames(Refused(Refusal.OTHER_MODEL, "another is served"))],
}


@pytest.mark.parametrize("says", WRONG.values(), ids=WRONG.keys())
def test_prompt_is_computed_here_when_what_comes_is_wrong(model, expected, says):
    core, runner = make_engine(model)
    with scripted(*says(runner)) as peer:
        connector = ZmqConnector(peer.address, runner.blocks)
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        assert peer.asked.is_set()
        connector.close()
    assert core.kv.prefix_tokens_hit == 0
    assert core.kv.pool.num_used == 0


def ask(core: EngineCore, runner: ModelRunner, address: str, **fields) -> RemotePrefill:
    remote = RemotePrefill(core, runner.blocks, ZmqConnector(address, runner.blocks))
    assert remote.take(AddRequest("asked", PROMPT, greedy(), **fields))
    return remote


def arrived_until_none_waits(remote: RemotePrefill) -> list[AddRequest]:
    """What arrives until no prompt is away and no thread writes."""
    ready: list[AddRequest] = []

    def is_over() -> bool:
        ready.extend(remote.arrived())
        return not remote.is_waiting

    wait_for(is_over, timeout_s=20)
    return ready


def test_no_block_is_found_before_all_its_layers_are_there(model):
    core, runner = make_engine(model)
    with scripted(*all_but_last_layer(runner)) as peer:
        remote = ask(core, runner, peer.address)
        incoming = remote._away["asked"].task.incoming
        wait_for(lambda: min(incoming._come[:-1]) == 4, timeout_s=20)
        assert remote.arrived() == []
        assert core.kv.pool.cached() == {}
        remote.abort(["asked"])
        wait_for(peer.cancelled.is_set, timeout_s=20)
        wait_for(lambda: remote.arrived() == [] and not remote.is_waiting, timeout_s=20)
    assert core.kv.pool.cached() == {}
    assert core.kv.pool.num_used == 0


def test_whole_blocks_of_a_prompt_that_is_cut_off_are_used(model, expected):
    """Two chunks were announced; the connection ends in the middle of the second."""
    sender, sender_runner = make_engine(model, scheduler=CHUNK)
    sent = Sent()
    server = PrefillServer(sender, sender_runner, sent)
    server.take(b"peer", asked(PROMPT, sender_runner))
    server.step()
    first = [
        frames(message, sent.data[b"peer"][message.layer])
        for _, message in sent.said
        if isinstance(message, LayerBlocks)
    ]
    core, runner = make_engine(model)
    with scripted(*first, part(runner, 0, 2, 2)) as peer:
        remote = ask(core, runner, peer.address)
        wait_for(lambda: remote._away["asked"].task.incoming.num_whole == 2, timeout_s=20)
    began = time.monotonic()
    wait_for(remote.arrived, timeout_s=20)
    assert time.monotonic() - began < 15, "the silence was waited for, not the connection's end"
    assert Driver(core).generate(PROMPT, greedy(max_tokens=12)) == expected
    assert core.kv.prefix_tokens_hit == 32


def test_only_blocks_that_are_not_cached_travel(model, expected, tmp_path):
    """By both ways: a conversation's second turn finds its first one here."""
    for address in (f"ipc://{tmp_path}/prefill", f"tcp://127.0.0.1:{free_port()}"):
        core, runner = make_engine(model)
        Driver(core).generate(PROMPT[:40], greedy(max_tokens=1))
        with prefill_engine(model, address):
            connector = ZmqConnector(address, runner.blocks)
            remote = RemotePrefill(core, runner.blocks, connector)
            assert remote.take(AddRequest("asked", PROMPT, greedy()))
            size = remote._away["asked"].task.incoming.size
            wait_for(remote.arrived, timeout_s=20)
            connector.close()
        assert size == runner.blocks.size(2)
        hit = core.kv.prefix_tokens_hit
        assert Driver(core).generate(PROMPT, greedy(max_tokens=12)) == expected
        assert core.kv.prefix_tokens_hit - hit == 64


def test_prompt_is_not_sent_away_without_room_for_it(model):
    core, runner = make_engine(model)

    class Never:
        def fetch(self, task: PrefillTask) -> None:
            raise AssertionError("it was asked for")

    assert core.kv.pool.take(29) is not None
    remote = RemotePrefill(core, runner.blocks, Never())
    assert not remote.take(AddRequest("asked", PROMPT, greedy()))
    assert core.kv.pool.num_free == 3


def test_reserved_blocks_are_given_back_when_what_runs_needs_them(model):
    core, runner = make_engine(model)

    class Stuck:
        def fetch(self, task: PrefillTask) -> None:
            task.cancelled.wait(60)

    core.add(AddRequest("runs", PROMPT[:20], greedy(max_tokens=100, ignore_eos=True)))
    core.step()
    remote = RemotePrefill(core, runner.blocks, Stuck())
    assert remote.take(AddRequest("asked", PROMPT, greedy()))
    taken = core.kv.pool.take(core.kv.pool.num_free)
    assert taken is not None
    ready = arrived_until_none_waits(remote)
    assert [message.request_id for message in ready] == ["asked"]
    assert core.kv.pool.num_free == 3, "one of the four was cached"
    core.kv.pool.release(taken)
    assert core.scheduler.preemptions == 0


@pytest.mark.parametrize("end", ["deadline", "abort"])
def test_nothing_is_left_in_shared_memory_when_the_receiver_gives_up(model, tmp_path, end):
    before = shared_memory()
    core, runner = make_engine(model)
    stop = threading.Event()
    asked, cancelled = threading.Event(), threading.Event()
    address = f"ipc://{tmp_path}/prefill"
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.linger = 0
        socket.bind(address)

        def listen() -> None:
            while not stop.is_set():
                if socket.poll(20):
                    said = msgspec.msgpack.decode(socket.recv_multipart()[-1], type=ToPrefill)
                    if isinstance(said, PrefillRequest):
                        assert shared_memory() - before == {said.segment}
                        asked.set()
                    else:
                        cancelled.set()

        thread = threading.Thread(target=listen)
        thread.start()
        deadline = time.monotonic() + 0.5 if end == "deadline" else None
        remote = ask(core, runner, address, deadline=deadline)
        if end == "abort":
            wait_for(asked.is_set, timeout_s=20)
            remote.abort(["asked"])
        wait_for(cancelled.is_set, timeout_s=20)
        ready = arrived_until_none_waits(remote)
        stop.set()
        thread.join()
    assert shared_memory() == before
    assert len(ready) == (end == "deadline")
    assert core.kv.pool.num_used == 0
