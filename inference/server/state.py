"""What all handlers share: the model's texts, the engine, and whether work is admitted."""

from __future__ import annotations

from dataclasses import dataclass, field

from inference.config import ServerConfig
from inference.engine.client import EngineClient
from inference.errors import (
    ContextLengthError,
    DrainingError,
    EngineDeadError,
    InvalidRequestError,
    ModelNotFoundError,
    QueueFullError,
)
from inference.protocol import CoreReady
from inference.server.metrics import Metrics
from inference.server.recent import RecentUsage
from inference.text.chat_template import ChatTemplate
from inference.text.tokenizer import TextTokenizer

_RETRY_AFTER_S = 2


@dataclass
class ServerState:
    config: ServerConfig
    max_num_seqs: int
    tokenizer: TextTokenizer
    template: ChatTemplate | None
    engine: EngineClient
    metrics: Metrics
    started_at: int
    recent: RecentUsage = field(default_factory=RecentUsage)
    draining: bool = field(default=False)

    @property
    def model_info(self) -> CoreReady:
        """What the core said when it was ready.

        Raises:
            EngineDeadError: when it is not, or no longer.
        """
        if self.engine.info is None or not self.engine.is_alive:
            raise EngineDeadError("the engine is not ready", retry_after_s=_RETRY_AFTER_S)
        return self.engine.info

    def check_model(self, name: str | None) -> None:
        if name is not None and name != self.config.served_model_name:
            raise ModelNotFoundError(
                f"the model {name!r} is not served here; {self.config.served_model_name!r} is",
                param="model",
            )

    def admit(self, num_sequences: int) -> None:
        """Refuse at once what would wait too long or cannot be taken.

        Raises:
            DrainingError, QueueFullError, EngineDeadError
        """
        if self.draining:
            raise DrainingError("this engine is being drained", retry_after_s=_RETRY_AFTER_S)
        _ = self.model_info
        room = self.max_num_seqs + self.config.max_waiting - self.engine.in_flight
        if num_sequences > room:
            raise QueueFullError(
                f"{self.engine.in_flight} sequences run or wait already",
                retry_after_s=_RETRY_AFTER_S,
            )

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

    def check_token_ids(self, token_ids: list[int], param: str) -> None:
        vocab_size = self.model_info.vocab_size
        for token_id in token_ids:
            if token_id >= vocab_size:
                raise InvalidRequestError(
                    f"token id {token_id} is not in the vocabulary of {vocab_size}", param=param
                )
