"""A runner that computes nothing: a step takes as long as its tokens cost, by its own clock."""

from __future__ import annotations

from collections.abc import Sequence

from inference.config import EngineConfig, SchedulerConfig
from inference.core import BlockCopies, Chunk, Sampled, SamplingParams, StepResult, WindowedBlocks
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest, SequenceOutput

TOKEN = 5
DECODE_S, TOKEN_S = 0.045, 0.004
"""Of a model of 1.5B parameters on a small CPU."""


class SimulatedRunner:
    """A `StepRunner` of a machine on which a decode step and a prompt token cost so much."""

    eos_token_ids = frozenset([2])
    vocab_size, embedding_size = 200_000, 8
    is_encoder = whole_images = False
    window: int | None = None
    windowed: WindowedBlocks | None = None
    num_states = num_readouts = 0

    def __init__(self, *, decode_s: float, token_s: float, num_blocks: int) -> None:
        self.num_blocks, self.max_model_len = num_blocks, 65_536
        self._decode_s, self._token_s = decode_s, token_s
        self.now = 0.0

    def execute(self, chunks: list[Chunk]) -> list[StepResult]:
        prompt_tokens = sum(chunk.num_tokens for chunk in chunks if not chunk.is_decode)
        self.now += self._decode_s + self._token_s * prompt_tokens
        return [[Sampled(TOKEN)] if chunk.samples else None for chunk in chunks]

    def adapter_key(self, adapter_id: int) -> str:
        return ""

    def checksums(self, block_ids: Sequence[int], group: int = 0) -> list[int]:
        return [0] * len(block_ids)

    def copy_blocks(self, copies: BlockCopies) -> None: ...

    def readouts(self, block_ids: Sequence[int], begin: int, end: int) -> bytes:
        return b""


class SimulatedEngine:
    """The real engine core on that machine."""

    def __init__(
        self,
        *,
        decode_s: float = DECODE_S,
        token_s: float = TOKEN_S,
        num_blocks: int = 10_000,
        **config,
    ) -> None:
        self.runner = SimulatedRunner(decode_s=decode_s, token_s=token_s, num_blocks=num_blocks)
        scheduler = SchedulerConfig(**config)
        self.core = EngineCore(
            EngineConfig(model="none", scheduler=scheduler), self.runner, (), self.now, self.now
        )
        self.steps = 0
        self.tokens: dict[str, int] = {}
        """Of each answer, so far."""
        self.first: dict[str, tuple[int, float]] = {}
        """Steps and seconds of the clock when each answer's first token came."""
        self._prompts = 0

    def now(self) -> float:
        return self.runner.now

    def add(
        self, name: str, length: int, *, answer: int = 2, priority: int = 0, prompt=None
    ) -> None:
        """A prompt that shares no beginning with any other, where none is given."""
        self._prompts += 1
        own = prompt or [100 + self._prompts] * length
        sampling = SamplingParams(max_tokens=answer)
        self.core.add(AddRequest(name, own, sampling, priority=priority, arrived_at=self.now()))

    def step(self) -> list[SequenceOutput]:
        outputs = self.core.step()
        self.steps += 1
        for output in outputs:
            self.tokens[output.request_id] = self.tokens.get(output.request_id, 0) + len(
                output.new_token_ids
            )
            self.first.setdefault(output.request_id, (self.steps, self.now()))
        return outputs

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def wait(self, name: str) -> tuple[int, float]:
        """Steps and seconds from now until its first token."""
        began = self.steps, self.now()
        while name not in self.first:
            self.step()
        steps, at = self.first[name]
        return steps - began[0], at - began[1]

    def with_streams(self, count: int) -> SimulatedEngine:
        """Answers that go on, and steps enough to know what tokens cost."""
        for index in range(count):
            self.add(f"stream {index}", 50, answer=60_000)
        self.run(20)
        self.add("measured", 300)
        self.run(60)
        return self

    def computed(self, name: str) -> int:
        """Tokens of a running request; 0 where it waits."""
        request = self.core.scheduler.find(name)
        assert request is not None
        return request.num_computed
