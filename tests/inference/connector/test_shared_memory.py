"""Blocks handed over through shared memory leave none behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import zmq

from inference.connector.messages import Refusal, Refused
from inference.connector.payload import Segment, write
from inference.connector.prefill_server import PrefillServer
from inference.connector.zmq_connector import ZmqConnector
from tests.inference.connector.prefilling import PROMPT, Sent, make_engine, task
from tests.inference.serving import wait_for


def shared_memory() -> set[str]:
    """Of whatever runs here; what runs of the tests keep in memory are folders."""
    files = (file for kind in ("parley-*", "psm_*") for file in Path("/dev/shm").glob(kind))
    return {file.name for file in files if file.is_file()}


def test_unread_blocks_leave_no_shared_memory(model, tmp_path):
    """The peer has given up before they are computed."""
    before = shared_memory()
    core, runner = make_engine(model)
    sent = Sent()
    server = PrefillServer(core, runner, sent)
    address = f"ipc://{tmp_path}/prefill"
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.bind(address)
        connector = ZmqConnector(address, runner.blocks, timeout_s=0.3)
        assert connector.fetch(task(PROMPT, runner)) is None
        sender, *received = socket.recv_multipart()
        server.take(sender, received)
        server.step()
        [(_, refused)] = sent.ends()
        assert isinstance(refused, Refused)
        assert refused.refusal is Refusal.FAILED
        connector.close()
    assert shared_memory() == before


def test_shared_memory_of_a_killed_process_is_freed():
    before = shared_memory()
    code = (
        "import time; from inference.connector.payload import Segment; "
        "segment = Segment(1 << 20); print(segment.name, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        name = process.stdout.readline().decode().strip()
        assert shared_memory() == before | {name}
        process.kill()
    wait_for(lambda: shared_memory() == before, timeout_s=20)


def test_blocks_are_written_to_no_memory_but_a_peers_segment():
    with pytest.raises(ValueError, match="psm_other"):
        write("psm_other", 0, b"data")


def test_blocks_are_not_written_beyond_a_segment():
    with Segment(8) as segment:
        write(segment.name, 4, b"data")
        with pytest.raises(ValueError, match="do not fit"):
            write(segment.name, 5, b"data")
        assert segment.read(0, 8) == bytes(4) + b"data"
