"""Between hosts nobody reads, asks, answers, repeats or changes anything without the pool's key."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable

import msgspec
import pytest
import zmq

from inference import cli
from inference.connector.pool_keys import PoolKeys, pool_keys
from inference.connector.remote_prefill import RemotePrefill
from inference.connector.zmq_connector import ZmqConnector
from inference.core import Request
from inference.errors import ModelLoadError
from inference.runner.model_runner import ModelRunner
from infra.services.ports import free_port
from tests.inference.conftest import greedy
from tests.inference.connector.prefilling import (
    PROMPT,
    answer,
    asked,
    make_engine,
    prefill_engine,
)
from tests.inference.connector.wire import wire
from tests.support.forkserver import fork

KEY = "the one text of all engines of this pool"
OTHER = "a text of as many characters, of another"
MESSAGE = b"\x07MESSAGE"
"""Begins what is said after a handshake."""


@pytest.fixture
def address() -> str:
    return f"tcp://127.0.0.1:{free_port()}"


def answer_by(model, address: str, **options) -> tuple[list[int], int]:
    """What an engine answers that asks there, and how many tokens it got from there."""
    core, runner = make_engine(model)
    connector = ZmqConnector(address, runner.blocks, **options)
    try:
        tokens = answer(core, RemotePrefill(core, runner.blocks, connector))
    finally:
        connector.close()
    assert core.kv.pool.num_used == 0
    return tokens, core.kv.prefix_tokens_hit


def keys_of(address: str, key: str) -> PoolKeys:
    keys = pool_keys(address, key)
    assert keys is not None
    return keys


@pytest.mark.parametrize("key", [KEY, ""], ids=["encrypted", "in the open"])
def test_prompts_and_blocks_are_readable_on_the_way_only_in_the_open(model, expected, address, key):
    with prefill_engine(model, address, api_key=key) as other, wire(address) as network:
        assert answer_by(model, network.address, api_key=key) == (expected, 64)
        [prefix] = other.kv.find_prefix(Request("probe", PROMPT, greedy())).blocks
        assert isinstance(other.runner, ModelRunner)
        blocks = other.runner.blocks.read_layer(0, prefix)
    secrets = {
        "the prompt": msgspec.msgpack.encode(PROMPT) in network.asked,
        "the name of the model": other.runner.blocks.fingerprint.encode() in network.asked,
        "keys and values": blocks[:256] in network.answered,
    }
    assert set(secrets.values()) == {not key}, secrets
    assert KEY.encode() not in network.asked + network.answered


@pytest.mark.parametrize("key", ["", OTHER], ids=["no key", "another key"])
def test_engine_without_the_key_computes_its_prompts_and_says_why(
    model, expected, address, key, caplog
):
    with prefill_engine(model, address, api_key=KEY) as other:
        assert answer_by(model, address, api_key=key) == (expected, 0)
        assert "the handshake failed" in caplog.text
        assert "PARLEY_PREFILL_API_KEY" in caplog.text
        assert other.stats().tokens_computed == 0
        assert answer_by(model, address, api_key=KEY) == (expected, 64), "others are served"


def in_the_open(client: zmq.Socket[bytes], keys: PoolKeys) -> None:
    """Knows what to say, and the key to be said."""


def with_own_certificate(client: zmq.Socket[bytes], keys: PoolKeys) -> None:
    """Has somehow learned the server's public key."""
    client.curve_serverkey = keys.server.public
    client.curve_publickey, client.curve_secretkey = zmq.curve_keypair()


def with_public_keys_only(client: zmq.Socket[bytes], keys: PoolKeys) -> None:
    """Knows both public keys, and no secret one."""
    client.curve_serverkey = keys.server.public
    client.curve_publickey, client.curve_secretkey = keys.client.public, zmq.curve_keypair()[1]


def with_another_pools_key(client: zmq.Socket[bytes], keys: PoolKeys) -> None:
    keys_of("tcp://127.0.0.1:1", OTHER).show(client)


@pytest.mark.parametrize(
    "dressed", [in_the_open, with_own_certificate, with_public_keys_only, with_another_pools_key]
)
def test_nothing_is_computed_for_a_program_without_the_key(model, expected, address, dressed):
    """One that speaks zmq as it likes, and keeps trying."""
    _, runner = make_engine(model)
    with (
        prefill_engine(model, address, api_key=KEY) as other,
        zmq.Context() as context,
        context.socket(zmq.DEALER) as client,
    ):
        client.linger = 0
        dressed(client, keys_of(address, KEY))
        client.connect(address)
        client.send_multipart(asked(PROMPT, runner, api_key=KEY))
        assert not client.poll(1500), "it was answered"
        assert other.stats().tokens_computed == 0
        assert answer_by(model, address, api_key=KEY) == (expected, 64), "others are served"


@pytest.mark.parametrize("key", ["", OTHER], ids=["in the open", "with another key"])
def test_impostor_at_the_address_gets_no_prompt(model, expected, address, key):
    """Somebody else listens where the prefill engine should."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as impostor:
        impostor.linger = 0
        if key:
            keys_of(address, key).guard(impostor)
            impostor.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 0)  # whoever comes is welcome
        impostor.bind(address)
        assert answer_by(model, address, api_key=KEY) == (expected, 0)
        assert not impostor.poll(200), "it got something"


def test_repeated_recording_computes_nothing(model, expected, address):
    """Every byte of a good connection, said again to the same engine."""
    with prefill_engine(model, address, api_key=KEY) as other:
        with wire(address) as network:
            assert answer_by(model, network.address, api_key=KEY) == (expected, 64)
        assert MESSAGE in network.asked
        computed = other.stats().tokens_computed
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as again:
            again.settimeout(5)
            again.sendall(network.asked)
            said = b""
            while data := until_closed(again):
                said += data
        assert MESSAGE not in said, "the recording was answered"
        assert other.stats().tokens_computed == computed
        assert answer_by(model, address, api_key=KEY) == (expected, 64), "others are served"


def until_closed(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except ConnectionResetError:
        return b""


def said_twice(asks: bool, data: bytes) -> bytes:
    return data * 2 if asks and MESSAGE in data else data


def changed(from_who_asks: bool) -> Callable[[bool, bytes], bytes]:
    """One bit is another, in what is said after the handshake."""

    def change(asks: bool, data: bytes) -> bytes:
        if asks is not from_who_asks or MESSAGE not in data:
            return data
        return data[:-1] + bytes([data[-1] ^ 1])

    return change


@pytest.mark.parametrize(
    "change",
    [said_twice, changed(True), changed(False)],
    ids=["the prompt is repeated", "the prompt is changed", "the blocks are changed"],
)
def test_prompt_is_computed_here_when_what_travels_is_changed(model, expected, address, change):
    """The connection ends, and what came of it before is whole or not used."""
    began = time.monotonic()
    with prefill_engine(model, address, api_key=KEY) as other, wire(address, change) as network:
        tokens, _ = answer_by(model, network.address, api_key=KEY)
        assert MESSAGE in network.asked
    assert tokens == expected
    assert other.stats().tokens_computed <= len(PROMPT), "it was computed twice"
    assert time.monotonic() - began < 25, "the silence was waited for, not the connection's end"


@pytest.mark.parametrize(
    "open_address",
    [
        "tcp://0.0.0.0:7100",
        "tcp://*:7100",
        "tcp://10.0.0.5:7100",
        "tcp://p:7100",
        "tcp://[fd00::1]:1",
    ],
)
def test_way_between_hosts_is_not_left_open(open_address):
    with pytest.raises(ModelLoadError, match="PARLEY_PREFILL_API_KEY"):
        pool_keys(open_address, "")
    assert pool_keys(open_address, "", encrypted=False) is None
    assert pool_keys(open_address, KEY) == pool_keys("tcp://127.0.0.1:1", KEY)


@pytest.mark.parametrize(
    "own",
    ["tcp://127.0.0.1:7100", "tcp://localhost:7100", "tcp://[::1]:7100", "ipc:///run/prefill"],
)
def test_way_within_a_host_needs_no_key(own):
    assert pool_keys(own, "") is None


def test_key_that_can_be_guessed_is_refused():
    with pytest.raises(ModelLoadError, match="32 characters, not 31"):
        pool_keys("tcp://127.0.0.1:7100", "x" * 31)
    assert pool_keys("ipc:///run/prefill", "short") is None


def test_both_commands_refuse_an_open_way_before_they_load_a_model(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("PARLEY_PREFILL_API_KEY", raising=False)
    missing = str(tmp_path / "no model")
    said = tmp_path / "said.txt"
    command = ("python", "-m", "inference.connector")
    options = ("--model", missing, "--listen", "tcp://0.0.0.0:7100")
    with said.open("wb") as output:
        ended = fork((*command, *options), environment=os.environ, output=output, kind="engine")
    assert ended.wait() == 1
    assert "for everybody to read" in said.read_text()
    way = ["--prefill-from", "tcp://10.0.0.5:7100"]
    assert cli.main(["serve", "--model", missing, "--no-api-key", *way]) == 2
    assert "for everybody to read" in capsys.readouterr().err
