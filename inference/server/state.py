"""What all handlers share: the model's texts, the engine, and whether work is admitted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from inference.config import ServerConfig
from inference.engine.client import EngineClient
from inference.errors import (
    ContextLengthError,
    DrainingError,
    EngineDeadError,
    InvalidRequestError,
    QueueFullError,
)
from inference.images.prepared import ImageProcessor
from inference.protocol import CoreReady
from inference.server.adapters import Adapters
from inference.server.metrics import Metrics
from inference.server.recent import RecentUsage
from inference.text.chat_template import ChatTemplate
from inference.text.generation_config import ChatDefaults
from inference.text.tokenizer import TextTokenizer

T = TypeVar("T")

_RETRY_AFTER_S = 2
_THREADS = 2
"""For long texts and grammars: more would take the cores from the engine."""


@dataclass
class ServerState:
    config: ServerConfig
    max_num_seqs: int
    tokenizer: TextTokenizer
    template: ChatTemplate | None
    engine: EngineClient
    adapters: Adapters
    metrics: Metrics
    started_at: int
    chat_defaults: ChatDefaults = field(default_factory=dict)
    """What a chat gets where it names nothing."""
    recent: RecentUsage = field(default_factory=RecentUsage)
    draining: bool = field(default=False)
    images: ImageProcessor | None = None
    """How the model's family reads images, where it does."""
    _threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_THREADS, thread_name_prefix="text")
    )

    @property
    def model_info(self) -> CoreReady:
        """What the core said when it was ready.

        Raises:
            EngineDeadError: when it is not, or no longer.
        """
        if self.engine.info is None or not self.engine.is_alive:
            raise EngineDeadError("the engine is not ready", retry_after_s=_RETRY_AFTER_S)
        return self.engine.info

    @property
    def chat_template(self) -> ChatTemplate:
        """Raises InvalidRequestError: when the model has none."""
        if self.template is None:
            raise InvalidRequestError("this model has no chat template", param="messages")
        return self.template

    async def off_loop(self, work: Callable[..., T], *args: Any) -> T:
        """Do what takes long in a thread, so that the event loop goes on serving the others."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def adapter_of(self, model: str | None) -> str:
        """The adapter that a model's name asks for, in memory; "" for the model alone.

        Raises:
            ModelNotFoundError: no such model is served here.
            AdapterError, QueueFullError: the adapter cannot be had, or not now.
        """
        name = self.adapters.find(model)
        await self.adapters.ready(name)
        return name

    def check_generates(self) -> None:
        """Raises InvalidRequestError where the model gives vectors only."""
        if self.model_info.is_encoder:
            name = self.config.served_model_name
            raise InvalidRequestError(
                f"the model {name!r} makes vectors of texts and no answers: use /v1/embeddings",
                param="model",
            )

    def admit(self, num_sequences: int, param: str | None = None) -> None:
        """Refuse at once what would wait too long or cannot be taken.

        Called before any work is done for a request: tokenizing and grammars cost time, and what
        is refused is worth none.

        Args:
            param: what to name when there is never room for so many.
        Raises:
            InvalidRequestError, DrainingError, QueueFullError, EngineDeadError
        """
        capacity = self.max_num_seqs + self.config.max_waiting
        if num_sequences > capacity:
            raise InvalidRequestError(
                f"{num_sequences} sequences are more than this engine takes at once, {capacity}",
                param=param,
            )
        self.check_ready()
        if num_sequences > capacity - self.engine.unfinished:
            raise QueueFullError(
                f"{self.engine.unfinished} sequences run or wait already",
                retry_after_s=_RETRY_AFTER_S,
            )

    def check_ready(self) -> None:
        """Raise DrainingError or EngineDeadError where no work is taken. A full queue is no such
        thing: it passes, and is told to the requests that it refuses."""
        if self.draining:
            raise DrainingError("this engine is being drained", retry_after_s=_RETRY_AFTER_S)
        _ = self.model_info

    def tokens_left(self, prompt_tokens: int, asked: int | None, param: str) -> int:
        """How many tokens may be generated after a prompt.

        Raises:
            ContextLengthError: when the prompt, or prompt and `asked`, do not fit.
        """
        limit = self.model_info.max_model_len
        left = limit - prompt_tokens
        if left < 1 or (asked is not None and asked > left):
            wanted = f" and {asked} were asked for" if asked is not None else ""
            raise ContextLengthError(
                f"the context is {limit} tokens, the prompt has {prompt_tokens}{wanted}",
                param=param,
            )
        return left if asked is None else asked

    def check_text(self, length: int, param: str) -> None:
        """Refuse a text of so many characters when no text as long can fit the model.

        Raises:
            ContextLengthError: it has more tokens, whatever it says.
        """
        limit = self.model_info.max_model_len
        if length > limit * self.tokenizer.longest_token:
            raise ContextLengthError(
                f"the context is {limit} tokens, a text of {length} characters has more",
                param=param,
            )

    def check_token_ids(self, token_ids: list[int], param: str) -> None:
        vocab_size = self.model_info.vocab_size
        for token_id in token_ids:
            if token_id >= vocab_size:
                raise InvalidRequestError(
                    f"token id {token_id} is not in the vocabulary of {vocab_size}", param=param
                )
