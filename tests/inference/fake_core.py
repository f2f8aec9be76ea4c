"""A core process without a model, for tests of what the server makes of a core's life.

`python -m tests.inference.fake_core SCRIPT`: it says it is ready, then follows the script, a
comma-separated list:

    report    an empty step report, as a core sends before its first good step
    garbage   bytes that are no message
    take      wait for the next request
    token     one token for the last request taken
    last      one more, which ends it
    wait      do nothing until the server says that all is over
    freeze    be stopped, as by SIGSTOP from outside
    hang      begin a step that does not end, and wait

After the last word it ends with status 3.
"""

from __future__ import annotations

import os
import signal
import sys

import msgspec
import zmq

from inference.core import FinishReason
from inference.engine.progress import Heartbeat, StepProgress
from inference.protocol import (
    AddRequest,
    CoreReady,
    CoreStart,
    CoreStats,
    SequenceOutput,
    Shutdown,
    StepReport,
    ToCore,
)

READY = CoreReady(
    max_model_len=256,
    block_size=16,
    num_blocks=64,
    kv_dtype="float32",
    kv_bytes=1,
    eos_token_ids=[0],
    vocab_size=128,
    embedding_size=8,
)
NO_STEP_YET = CoreStats(accepted_per_position=(0,) * 7)


def main() -> int:
    start = msgspec.json.decode(sys.stdin.buffer.read(), type=CoreStart)
    context = zmq.Context[zmq.Socket[bytes]]()
    inbox, outbox = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    inbox.connect(start.inbox)
    outbox.connect(start.outbox)
    decode = msgspec.msgpack.Decoder(ToCore).decode

    def send(message: object) -> None:
        outbox.send(msgspec.msgpack.encode(message))

    def next_request() -> str | None:
        """The id of the next request; None when the server says that all is over."""
        while True:
            message = decode(inbox.recv())
            if isinstance(message, AddRequest):
                return message.request_id
            if isinstance(message, Shutdown):
                return None

    taken: str | None = ""
    send(READY)
    progress = StepProgress()
    heartbeat = Heartbeat(context, start.outbox)
    heartbeat.start(progress)
    for word in sys.argv[1].split(","):
        if word == "report":
            send(StepReport([], NO_STEP_YET))
        elif word == "garbage":
            outbox.send(b"\xc1 is no message")
        elif word == "take":
            taken = next_request()
        elif word in ("token", "last"):
            reason = FinishReason.LENGTH if word == "last" else None
            output = SequenceOutput(taken or "", [65], finish_reason=reason)
            send(StepReport([output], CoreStats(steps=1)))
        elif word == "freeze":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif word in ("wait", "hang"):
            if word == "hang":
                progress.begin(16)
                progress.end()  # what a token costs is known then
                progress.begin(1)
            while next_request():
                pass
        if taken is None:
            break
    heartbeat.stop()
    outbox.close(linger=1000)
    context.destroy(linger=1000)
    return 3


if __name__ == "__main__":
    sys.exit(main())
