"""The options of `python -m inference serve`, with defaults that suit one machine."""

from __future__ import annotations

from typing import Literal

import msgspec

Policy = Literal["fcfs", "priority", "shortest"]
Rounding = Literal["off", "auto", "on", "tiles"]
KvDtype = Literal["auto", "float32", "bfloat16", "float16", "int8"]
KEY_VARIABLE = "PARLEY_ENGINE_API_KEY"
"""Environment variable of the key that the engine asks of every request."""
REGISTRY_VARIABLE = "PARLEY_ENGINE_REGISTRY"
"""Environment variable of the Redis where the engine announces itself."""
KV_STORE_KEY_VARIABLE = "PARLEY_KV_STORE_KEY"
"""Environment variable of the key that kept prefixes are encrypted with."""
PREFILL_KEY_VARIABLE = "PARLEY_PREFILL_API_KEY"
"""Environment variable of the key between an engine and the one that computes prompts for it."""

MAX_LOAD_SILENCE_S = 60.0
"""Longer than a file server takes that fails over, or a volume that is moved."""


class SchedulerConfig(msgspec.Struct, frozen=True):
    """Limits and policy of a step.

    `max_num_batched_tokens` bounds the tokens of one step. While some answer is being
    generated a step takes at most `mixed_step_tokens`, and no more than make it
    `mixed_step_slowdown` times as long as without prompts (`scheduler/prefill_budget.py`), so that
    a long prompt is computed in chunks that their readers hardly notice.
    """

    max_num_seqs: int = 64
    max_num_batched_tokens: int = 1024
    mixed_step_tokens: int = 128
    mixed_step_slowdown: float = 2.0
    policy: Policy = "priority"
    priority_seconds: float = 20.0
    """One priority level is worth this long a wait, so nothing starves."""
    batch_priority: int = 500
    """So many levels behind a waiting request, a running one gives up its slot for it."""
    token_seconds: float = 0.02
    """Policy `shortest`: one expected token is worth this long a wait."""
    max_wait_s: float | None = None
    """A request that has not begun after so many seconds is refused."""


class SpeculationConfig(msgspec.Struct, frozen=True):
    """Draft tokens (`speculation/speculator.py`); output is the same with and without them."""

    prompt_lookup: bool = True
    draft_model: str | None = None
    """A smaller model with the same vocabulary, asked where prompt lookup finds nothing."""
    max_tokens: int = 7
    """Drafted at once for a request whose drafts are right; it begins with fewer."""
    max_rows: int = 12
    """Of a step, known and draft tokens together; with more requests than half none are drafted."""


class EngineConfig(msgspec.Struct, frozen=True):
    """Everything the core process needs to start."""

    model: str
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    kv_dtype: KvDtype = "auto"
    """How keys and values are kept; auto: as they are computed, beside int8 activations fp16."""
    max_model_len: int | None = None
    block_size: int = 16
    num_blocks: int | None = None
    kv_memory_fraction: float | None = None
    """Of the memory that is free once the model is loaded; None: `model/kv_memory.py`'s."""
    prefix_cache: bool = True
    max_states: int | None = None
    """Sequences that may run at once, of a model that keeps a state of each; None: as many as
    `max_num_seqs`, if their states take at most half of the memory of the cache."""
    swap_blocks: int = 0
    """Blocks of host memory for preempted sequences; 0: they are always recomputed."""
    kv_checksums: bool = False
    """Verify cached blocks before they are used again; costs reading them once more."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    num_threads: int | None = None
    quantization: Literal["as-is", "int8", "int4"] = "as-is"
    """What dense weights are rounded to; those that the file has quantized stay."""
    int8_activations: Rounding = "off"
    """Faster on a CPU, and no longer the float32 model (`quantization/precision.py`); auto: where
    this machine and our kernels can, float32 elsewhere; tiles: many rows in AMX's tiles."""
    tensor_parallel: int = 1
    """Processes that hold a part of every layer."""
    pipeline_parallel: int = 1
    """Processes that hold layers, one after another."""
    graphs_on_ranks: bool = False
    """Record decode steps of several ranks as CUDA graphs (`parallel/graphs.py`); no GPU has
    shown it."""
    image_cache_bytes: int = 256 << 20
    """What the vision tower made of images is kept for later prompts, up to so much of it."""
    readout: str | None = None
    """A file of linear functions of one layer's states (`model/readout.py`)."""
    max_loras: int = 0
    """Adapters in memory at once; 0: none can be loaded."""
    max_lora_rank: int = 64
    prefill_from: str | None = None
    """zmq address of an engine that computes prompts (`inference/connector`)."""
    prefill_api_key: str = ""
    """What all engines of that pool are given; over TCP all is encrypted with it."""
    prefill_encryption: bool = True
    """False: the network between the two encrypts."""
    one_block_table: bool = False
    """Layers with a window keep as many blocks as others, and a token in the same one."""
    kv_store: str | None = None
    """A folder or `s3://bucket/prefix` where computed prefixes are kept, encrypted."""
    kv_store_bytes: int = 10 << 30
    """What a folder may take."""
    kv_store_memory: int = 0
    """Bytes of host memory for them."""
    kv_store_key: str = ""
    """What the keys of tenants are derived from."""
    max_load_silence_s: float = MAX_LOAD_SILENCE_S
    """A core that loads, and has not run for so long, has frozen (`engine/watchdog.py`)."""
    scheduler: SchedulerConfig = SchedulerConfig()
    speculation: SpeculationConfig = SpeculationConfig()


class RegistrationConfig(msgspec.Struct, frozen=True):
    """Where the engine announces itself, and as what (`server/registration.py`)."""

    registry: str
    """URL of a Redis."""
    advertise: str
    """`http(s)://host:port` where gateways reach this engine."""
    name: str = ""
    """For people; default: host and port."""
    revision: str = ""
    """Of the model; default: told from its files."""
    hardware: str = ""
    """Default: the GPU's or processor's name."""
    region: str = ""
    hour_price: str = ""
    """US dollars that an hour of this engine costs."""
    roles: tuple[str, ...] = ("prefill", "decode")


class ServerConfig(msgspec.Struct, frozen=True):
    """Everything the HTTP side needs beside the engine."""

    served_model_name: str
    host: str = "127.0.0.1"
    port: int = 8001
    max_waiting: int = 256
    """Requests beyond `max_num_seqs` that may wait before new ones are refused."""
    api_key: str = ""
    """What every request but a probe has to show; "": nothing."""
    registration: RegistrationConfig | None = None
    lora_modules: tuple[tuple[str, str], ...] = ()
    """Adapters that are loaded at the start: name and folder."""
    chat_template: str | None = None
    """A file with a template in place of the model's own."""
