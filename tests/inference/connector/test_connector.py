"""Prompts computed by another engine: same tokens, and the same ones when it is away."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
import torch
import zmq

from inference.config import EngineConfig, SchedulerConfig
from inference.connector.messages import (
    VERSION,
    CancelPrefill,
    FromPrefill,
    LayerBlocks,
    PrefillDone,
    Refusal,
    Refused,
    frames,
)
from inference.connector.prefill_server import PrefillServer
from inference.connector.remote_prefill import RemotePrefill
from inference.connector.zmq_connector import PrefillTask, ZmqConnector
from inference.engine.engine_core import EngineCore
from inference.errors import ModelLoadError
from inference.protocol import AddRequest
from inference.runner.model_runner import ModelRunner
from infra.services.ports import free_port
from tests.inference.conftest import greedy
from tests.inference.connector.prefilling import (
    PROMPT,
    Sent,
    answer,
    asked,
    make_engine,
    prefill_engine,
    task,
)
from tests.inference.serving import wait_for
from tests.inference.test_families import make_folder


def test_transferred_blocks_give_the_same_tokens(model, expected, address):
    core, runner = make_engine(model)
    with prefill_engine(model, address) as other:
        connector = ZmqConnector(address, runner.blocks)
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 64, "the blocks were not used"
    assert other.stats().tokens_computed == len(PROMPT)
    assert core.kv.pool.num_used == other.kv.pool.num_used == 0


def test_blocks_of_a_model_with_windows_are_transferred_where_all_layers_share_them(
    tmp_path, address
):
    folder = tmp_path / "model"
    make_folder("gemma3", folder)
    alone, own_runner = make_engine(folder)
    expected = answer(alone)
    core, runner = make_engine(folder, prefill_from=address)
    with prefill_engine(folder, address, one_block_table=True) as other:
        connector = ZmqConnector(address, runner.blocks)
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 64
    assert other.stats().tokens_computed == len(PROMPT)
    with pytest.raises(ModelLoadError, match="layers that all have the same"):
        PrefillServer(alone, own_runner, Sent())


def test_int8_blocks_are_transferred_to_an_int8_cache_only(model, expected, address):
    quantized, runner = make_engine(model, "int8")
    alone = answer(make_engine(model, "int8")[0])
    with prefill_engine(model, address, "int8"):
        connector = ZmqConnector(address, runner.blocks)
        assert answer(quantized, RemotePrefill(quantized, runner.blocks, connector)) == alone
        connector.close()
        other, runner = make_engine(model)
        connector = ZmqConnector(address, runner.blocks)
        assert answer(other, RemotePrefill(other, runner.blocks, connector)) == expected
        connector.close()
    assert quantized.kv.prefix_tokens_hit == 64
    assert other.kv.prefix_tokens_hit == 0


def test_request_without_the_right_key_is_refused(model, expected, address):
    right = "a secret of the whole pool, 32 or more"
    with prefill_engine(model, address, api_key=right) as other:
        for key, found in (("", 0), (right[::-1], 0), (right, 64)):
            core, runner = make_engine(model)
            connector = ZmqConnector(address, runner.blocks, api_key=key)
            assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
            connector.close()
            assert core.kv.prefix_tokens_hit == found
    assert other.stats().tokens_computed == len(PROMPT), "only the last was computed"


def test_prompts_of_several_peers_are_computed_in_one_step(model):
    prompts = [[(token + i) % 120 + 3 for token in PROMPT] for i in range(4)]
    core, runner = make_engine(model)
    alone = Sent()
    server = PrefillServer(core, runner, alone)
    for i, prompt in enumerate(prompts):
        server.take(b"peer %d" % i, asked(prompt, runner))
        server.step()
    core, runner = make_engine(model)
    together = Sent()
    server = PrefillServer(core, runner, together)
    for i, prompt in enumerate(prompts):
        server.take(b"peer %d" % i, asked(prompt, runner))
    server.step()
    ends = dict(together.ends())
    for i in range(4):
        peer = b"peer %d" % i
        end = ends[peer]
        assert isinstance(end, PrefillDone)
        assert end.num_blocks == 4
        found, wanted = (
            torch.frombuffer(bytearray(b"".join(sent.data[peer].values())), dtype=torch.float32)
            for sent in (together, alone)
        )
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    assert core.stats().steps == 1
    assert core.kv.pool.num_used == 0


def test_concurrent_peers_all_get_their_blocks(model, expected, address):
    with prefill_engine(model, address), ThreadPoolExecutor(5) as pool:
        engines = [make_engine(model) for _ in range(5)]

        def ask(core: EngineCore, runner: ModelRunner) -> list[int]:
            connector = ZmqConnector(address, runner.blocks)
            try:
                return answer(core, RemotePrefill(core, runner.blocks, connector))
            finally:
                connector.close()

        answers = list(pool.map(lambda engine: ask(*engine), engines))
    assert answers == [expected] * 5
    assert [core.kv.prefix_tokens_hit for core, _ in engines] == [64] * 5


def test_invalid_message_is_refused_and_others_are_served(model, expected):
    address = f"tcp://127.0.0.1:{free_port()}"
    with prefill_engine(model, address), zmq.Context() as context:
        client = context.socket(zmq.DEALER)  # speaks zmq, but not by turns
        client.connect(address)
        client.send(b"no envelope")
        assert client.poll(20_000)
        client.close()
        socket = context.socket(zmq.DEALER)
        socket.connect(address)
        socket.send_multipart([b"", VERSION, b"no message"])
        assert socket.poll(20_000)
        refusal = msgspec.msgpack.decode(socket.recv_multipart()[-1], type=FromPrefill)
        assert isinstance(refusal, Refused)
        assert refusal.refusal is Refusal.INVALID_MESSAGE
        socket.close()
        core, runner = make_engine(model)
        connector = ZmqConnector(address, runner.blocks)
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 64


def test_prompt_is_computed_locally_when_the_peer_is_away(model, expected):
    core, runner = make_engine(model)
    # It is found out by connecting, not by waiting for an answer: or this would take an hour.
    connector = ZmqConnector(f"tcp://127.0.0.1:{free_port()}", runner.blocks, timeout_s=3600)
    assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
    assert connector.fetch(task(PROMPT, runner)) is None, "it is not waited for again"
    assert core.kv.prefix_tokens_hit == 0
    connector.close()


def test_prompt_is_computed_locally_when_the_peer_serves_another_model(model, expected, tmp_path):
    make_folder("llama-linear", tmp_path)  # same sizes, another rotation
    address = f"tcp://127.0.0.1:{free_port()}"
    core, runner = make_engine(model)
    with prefill_engine(tmp_path, address):
        connector = ZmqConnector(address, runner.blocks)
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 0


class Broken:
    """Hands over too few bytes."""

    def fetch(self, task: PrefillTask) -> None:
        task.incoming.take(LayerBlocks(0, 0, 4), b"cut off")


def test_blocks_of_the_wrong_size_are_dropped(model, expected):
    core, runner = make_engine(model)
    assert answer(core, RemotePrefill(core, runner.blocks, Broken())) == expected
    assert core.kv.pool.num_used == 0


def test_transferred_blocks_are_found_only_with_their_salt(model, expected, address):
    """Blocks fetched for one organization are not found by another's request."""
    core, runner = make_engine(model)
    with prefill_engine(model, address):
        connector = ZmqConnector(address, runner.blocks)
        remote = RemotePrefill(core, runner.blocks, connector)
        assert answer(core, remote, salt="one organization") == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 0


def test_aborted_request_is_forgotten(model):
    core, runner = make_engine(model)
    remote = RemotePrefill(core, runner.blocks, Broken())
    assert remote.take(AddRequest("asked", PROMPT, greedy()))
    assert core.kv.pool.num_used == 4
    remote.abort(["asked"])
    wait_until_given_up(remote)
    assert core.kv.pool.num_used == 0


def test_short_or_cached_prompt_is_not_sent_to_the_peer(model, expected):
    core, runner = make_engine(model)
    remote = RemotePrefill(core, runner.blocks, Broken())
    assert not remote.take(AddRequest("short", PROMPT[:16], greedy()))
    assert answer(core) == expected
    assert not remote.take(AddRequest("known", PROMPT, greedy()))


@pytest.mark.parametrize(
    ("token_ids", "reason"),
    [
        ([-1] * 40, "-1 is not a token"),
        ([5] * 39 + [128], "128 is not a token"),
        ([2**63], "not a token"),
        ([], "no tokens"),
        ([5] * 256, "256 tokens"),
    ],
    ids=["negative", "beyond the vocabulary", "beyond a signed number", "empty", "too long"],
)
def test_prompt_that_cannot_be_computed_is_refused_by_a_typed_answer(model, token_ids, reason):
    core, runner = make_engine(model)
    sent = Sent()
    server = PrefillServer(core, runner, sent)
    server.take(b"peer", asked(token_ids, runner))
    [(_, refusal)] = sent.ends()
    assert isinstance(refusal, Refused)
    assert refusal.refusal is Refusal.INVALID_PROMPT
    assert reason in refusal.error
    server.take(b"peer", asked(PROMPT, runner))
    server.step()
    [(_, end)] = sent.ends()
    assert isinstance(end, PrefillDone)
    assert end.num_blocks == 4


def test_prompts_are_computed_in_order_of_receipt(model):
    """Eleven, so that the order of their names as texts is another."""
    core, runner = make_engine(model, scheduler=SchedulerConfig(max_num_seqs=1))
    sent = Sent()
    server = PrefillServer(core, runner, sent)
    senders = [b"peer %d" % i for i in range(11)]
    for i, sender in enumerate(senders):
        server.take(sender, asked([i + 3, *PROMPT], runner))
    for _ in senders:
        server.step()
    assert [sender for sender, _ in sent.ends()] == senders


def test_cancelled_or_timed_out_prompt_is_not_computed(model):
    """Its peer cancelled it, or said how long it waits and that is over."""
    core, runner = make_engine(model)
    clock = Clock()
    core._clock = clock
    sent = Sent()
    server = PrefillServer(core, runner, sent, clock=clock)
    server.take(b"cancels", asked(PROMPT, runner))
    server.take(b"cancels", frames(CancelPrefill()))
    server.take(b"is slow", asked([9, *PROMPT], runner, timeout_s=5.0))
    clock.now = 6.0
    server.step()
    assert sent.said == []
    assert not core.scheduler.has_work
    assert core.stats().tokens_computed == 0
    server.take(b"waits", asked(PROMPT, runner))
    server.step()
    [(sender, end)] = sent.ends()
    assert sender == b"waits"
    assert isinstance(end, PrefillDone)


class Stuck:
    """A connector whose peer never answers."""

    def __init__(self) -> None:
        self.tasks: list[PrefillTask] = []

    def fetch(self, task: PrefillTask) -> None:
        self.tasks.append(task)
        task.cancelled.wait(60)


def wait_until_given_up(remote: RemotePrefill) -> None:
    """Until no thread writes any more, for a request that is not here any more."""

    def is_given_up() -> bool:
        assert remote.arrived() == []
        return not remote.is_waiting

    wait_for(is_given_up, timeout_s=20)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"deadline": 5.0}, "timeout"), ({"arrived_at": -5.5}, "queue_timeout")],
    ids=["deadline", "max_wait"],
)
def test_request_ends_in_time_while_its_prompt_is_away(model, fields, reason):
    clock, connector = Clock(), Stuck()
    config = EngineConfig(
        model=str(model),
        dtype="float32",
        num_blocks=32,
        num_threads=1,
        scheduler=SchedulerConfig(max_wait_s=10.0),
    )
    runner = ModelRunner(config)
    core = EngineCore(config, runner, clock=clock)
    remote = RemotePrefill(core, runner.blocks, connector, max_wait_s=10.0, clock=clock)
    message = AddRequest("asked", PROMPT, greedy(), **fields)
    assert remote.take(message)
    clock.now = 4.0
    assert remote.arrived() == []
    clock.now = 5.0
    assert remote.arrived() == [message]
    assert connector.tasks[0].cancelled.is_set()
    wait_until_given_up(remote)
    assert core.kv.pool.num_used == 0
    core.add(message)
    [output] = core.step()
    assert output.finish_reason == reason
    assert core.stats().tokens_computed == 0


def test_aborted_request_cancels_its_prompt(model):
    core, runner = make_engine(model)
    connector = Stuck()
    remote = RemotePrefill(core, runner.blocks, connector, threads=1)
    for name in ("first", "second"):
        assert remote.take(AddRequest(name, PROMPT, greedy()))
    wait_for(lambda: connector.tasks, timeout_s=20)
    remote.abort(["second"])
    remote.abort(["first"])
    wait_for(connector.tasks[0].cancelled.is_set, timeout_s=20)
    wait_until_given_up(remote)
    assert len(connector.tasks) == 1, "the second was asked for after it was aborted"
    assert core.kv.pool.num_used == 0


def test_refused_prompt_does_not_keep_the_next_one_from_the_prefill_engine(model, expected):
    """A wrong prompt is its sender's fault: the peer is there for the others."""
    address = f"tcp://127.0.0.1:{free_port()}"
    core, runner = make_engine(model)
    with prefill_engine(model, address):
        connector = ZmqConnector(address, runner.blocks)
        assert connector.fetch(task([-1] * 40, runner)) is None
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 64


def test_prompt_is_computed_locally_when_the_connector_raises(model, expected):
    core, runner = make_engine(model)

    class Raises:
        def fetch(self, task: PrefillTask) -> PrefillDone:
            raise RuntimeError("a fault of the connector")

    assert answer(core, RemotePrefill(core, runner.blocks, Raises())) == expected


@pytest.mark.parametrize("ranks", [{"pipeline_parallel": 2}, {"tensor_parallel": 2}])
def test_prompts_from_elsewhere_are_refused_for_a_model_on_several_ranks(model, ranks):
    config = EngineConfig(model=str(model), prefill_from="ipc:///nowhere", **ranks)
    with pytest.raises(ModelLoadError, match="--prefill-from"):
        ModelRunner(config)
