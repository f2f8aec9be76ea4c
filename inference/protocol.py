"""Messages between the server process and the engine core, encoded with msgspec.

Server to core: `AddRequest`, `AbortRequests`, `LoadAdapter`, `UnloadAdapter`, `Shutdown`.
Core to server: `CoreReady` once, then a `StepReport` after every step and after everything else
that changed what is running, a `CoreBeat` twice a second, and `CoreFailed` as its last word when
it cannot go on.
"""

from __future__ import annotations

import msgspec

from inference.config import EngineConfig
from inference.core import FinishReason, PromptImage, SamplingParams, TokenLogprobs


class CoreStart(msgspec.Struct, frozen=True):
    """What a core process reads from its standard input, once, as JSON."""

    engine: EngineConfig
    inbox: str
    outbox: str
    started_at: float
    """When the process was started, by `time.monotonic()` of this host."""


class AddRequest(msgspec.Struct, tag="add"):
    """Start one sequence. `arrived_at` is `time.monotonic()` of this host."""

    request_id: str
    prompt_token_ids: list[int]
    sampling: SamplingParams
    priority: int = 0
    arrived_at: float = 0.0
    cache_salt: str = ""
    public_tokens: int = 0
    """Of the prompt, the first so many are no tenant's: their blocks are without the salt."""
    may_be_kept: bool = True
    """What is computed for it, outside the engine."""
    deadline: float | None = None
    """When to end with what there is, in the same clock."""
    wants_embedding: bool = False
    """Answer with the prompt's vector instead of tokens after it."""
    wants_readouts: bool = False
    """Answer with the readouts of prompt and answer too."""
    images: tuple[PromptImage, ...] = ()
    adapter_id: int = 0
    """Of a loaded adapter; 0: none."""
    predicted_token_ids: list[int] = []
    """Text that the answer is expected to have, for draft tokens."""


class AbortRequests(msgspec.Struct, tag="abort"):
    """Forget these sequences and free their blocks before the next step."""

    request_ids: list[str]


class LoadAdapter(msgspec.Struct, tag="load_adapter"):
    """Read an adapter from a folder; a later `StepReport` says what became of it."""

    adapter_id: int
    path: str


class UnloadAdapter(msgspec.Struct, tag="unload_adapter"):
    """Free an adapter that no request has any more."""

    adapter_id: int


class Shutdown(msgspec.Struct, tag="shutdown"):
    """End the core process."""


ToCore = AddRequest | AbortRequests | LoadAdapter | UnloadAdapter | Shutdown


class SequenceOutput(msgspec.Struct, array_like=True, omit_defaults=True):
    """What one step gave one sequence."""

    request_id: str
    new_token_ids: list[int]
    logprobs: list[TokenLogprobs] | None = None
    finish_reason: FinishReason | None = None
    cached_tokens: int = 0
    error: str | None = None
    vector: bytes = b""
    """Of a request that wants one: little-endian float32, of length one."""
    readouts: bytes = b""
    """Of a request that wants them: those of the tokens computed since the last output, the
    prompt's first; little-endian float32, (tokens, readouts)."""
    predicted: tuple[int, int] = (0, 0)
    """Of what was expected, draft tokens that were right and wrong so far."""
    waited_s: float = 0.0
    """With its first token: for how long it had waited before it ran."""


class CoreStats(msgspec.Struct, omit_defaults=True):
    """A snapshot of the core, and counters since its start."""

    running: int = 0
    waiting: int = 0
    blocks_total: int = 0
    blocks_used: int = 0
    tokens_computed: int = 0
    prefix_tokens_asked: int = 0
    prefix_tokens_hit: int = 0
    preemptions: int = 0
    swaps: int = 0
    """Preemptions by copying to host memory; the others recompute."""
    steps: int = 0
    busy_s: float = 0.0
    """Seconds spent in steps."""
    step_tokens: int = 0
    kv_waste: float = 0.0
    num_drafts: int = 0
    draft_tokens: int = 0
    batch_limit: int = 0
    """Tokens a step may have; lower for a while after memory ran out."""
    failed_steps: int = 0
    checksum_mismatches: int = 0
    accepted_per_position: tuple[int, ...] = ()
    """How often the first, second, ... token of a draft was right."""


class CoreReady(msgspec.Struct, tag="ready"):
    """The model is loaded and the core takes requests."""

    max_model_len: int
    block_size: int
    num_blocks: int
    kv_dtype: str
    kv_bytes: int
    """Memory of all blocks on one rank, when all are used."""
    eos_token_ids: list[int]
    vocab_size: int
    embedding_size: int
    is_encoder: bool = False
    """Whether the model gives vectors only."""
    num_readouts: int = 0
    sees_images: bool = False
    load_s: dict[str, float] = {}
    """Seconds of each stage, from the start of the process until now."""


class AdapterLoaded(msgspec.Struct, omit_defaults=True):
    """An adapter can be named by requests, or `error` says why not."""

    adapter_id: int
    num_bytes: int = 0
    error: str | None = None


class StepReport(msgspec.Struct, tag="step"):
    outputs: list[SequenceOutput]
    stats: CoreStats
    adapters: list[AdapterLoaded] = []


class CoreFailed(msgspec.Struct, tag="failed"):
    message: str


class CoreBeat(msgspec.Struct, tag="beat"):
    """The core lives. `step_s`: how long it has computed the step that runs now, 0 where none
    does; `allowed_s`: how long such a step may take before it counts as hung. In seconds."""

    step_s: float
    allowed_s: float


FromCore = CoreReady | StepReport | CoreBeat | CoreFailed
