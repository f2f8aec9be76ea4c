"""`python -m inference.connector --model PATH --listen tcp://0.0.0.0:7100`: a prefill engine."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import threading
from typing import get_args

from inference.config import PREFILL_KEY_VARIABLE, EngineConfig, Rounding
from inference.connector.pool_keys import pool_keys
from inference.connector.prefill_server import serve
from inference.engine.engine_core import EngineCore
from inference.errors import ModelLoadError
from inference.model.files.sources import fetch
from inference.runner.model_runner import ModelRunner


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m inference.connector", description=__doc__)
    parser.add_argument("--model", required=True, help="as for `serve`, and the same model")
    parser.add_argument("--listen", default="tcp://127.0.0.1:7100", help="or ipc:///PATH")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--kv-dtype", default="auto", help="the same as that engine's")
    parser.add_argument("--quantization", default="as-is", help="of weights, as for `serve`")
    parser.add_argument("--int8-activations", default="off", choices=get_args(Rounding))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--num-blocks", type=int, help="KV blocks; default: by free memory")
    parser.add_argument("--threads", type=int, help="torch threads; default: all cores")
    parser.add_argument(
        "--api-key",
        default=os.environ.get(PREFILL_KEY_VARIABLE, ""),
        help="of the pool: over tcp:// all is encrypted with it, and peers have to know it; "
        f"default: ${PREFILL_KEY_VARIABLE}, which no list of processes shows",
    )
    parser.add_argument(
        "--no-prefill-encryption",
        action="store_true",
        help="over tcp:// between hosts, because their network itself encrypts; peers say it too",
    )
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s prefill %(message)s")
    encrypted = not args.no_prefill_encryption
    try:
        pool_keys(args.listen, args.api_key, encrypted=encrypted)  # known before the model loads
    except ModelLoadError as error:
        raise SystemExit(str(error)) from error
    config = EngineConfig(
        model=str(fetch(args.model)),
        dtype=args.dtype,
        kv_dtype=args.kv_dtype,
        quantization=args.quantization,
        int8_activations=args.int8_activations,
        device=args.device,
        num_blocks=args.num_blocks,
        num_threads=args.threads,
        one_block_table=True,  # what is handed over is whole blocks of all layers
    )
    runner = ModelRunner(config)
    if runner.num_states:
        raise SystemExit("a prefill engine hands over blocks, and this model has states too")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    core = EngineCore(config, runner)
    serve(core, runner, args.listen, stop, args.api_key, encrypted=encrypted)


if __name__ == "__main__":
    main()
