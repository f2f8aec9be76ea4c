"""The running product in front of an upstream whose every answer the test has written.

What a client receives of a text that a model would say only once in a thousand times, and what
a model is told in a prompt, can both be looked at exactly.
"""

from pathlib import Path
from typing import Any

from tests.support.product import Product
from tests.support.upstream import UpstreamThread


class ScriptedProduct(Product):
    """A product with an upstream of its own; `says` what its next answers are."""

    def __init__(self, directory: Path, **options: Any) -> None:
        """
        Args:
            options: see `Product`; the usual ones are two web processes, nothing beside them.
        """
        self._upstream = UpstreamThread(rate=0.0)
        self._upstream.start()
        super().__init__(
            directory,
            **{"engine_url": self._upstream.url, "webs": 2, "background": (), **options},
        )

    def says(self, text: str, *, thought: str = "", rate: float = 0.0) -> None:
        """Every answer from now on, a word a token, after what the model thinks first; so many
        words a second, 0 at once."""
        self._upstream.behaviour.rate = rate
        thoughts = [f"{word} " for word in thought.split()]
        self._upstream.behaviour.thoughts = len(thoughts)
        self._upstream.behaviour.script = thoughts + [f"{word} " for word in text.split(" ")]

    def hurries(self) -> None:
        """What is still to come of its answers comes at once."""
        self._upstream.behaviour.rate = 0.0

    def calls(self, *calls: tuple[str, str]) -> None:
        """From now on an answer to anything but a tool's result makes these calls, (part of a
        function's name, JSON), where the request offers such functions."""
        self._upstream.behaviour.calls = list(calls)

    def refuses(self, refusal: tuple[int, dict[str, Any]] | None) -> None:
        """Every request from now on, with that status and body; None: none any more."""
        self._upstream.behaviour.refuse = refusal

    def breaks_once(self, *, after: int) -> None:
        """The next answer breaks off after so many words; what follows it does not."""
        self._upstream.behaviour.break_after = after
        self._upstream.behaviour.break_times = 1

    @property
    def prompts(self) -> list[list[dict[str, Any]]]:
        """The messages that the upstream was sent, oldest chat first."""
        return [body["messages"] for body in self.bodies if "messages" in body]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The whole requests that the upstream was sent, oldest first, also those that are no
        chats."""
        return [served.body for served in self._upstream.served]

    @property
    def traceparents(self) -> list[str]:
        """Of the requests that the upstream was sent, oldest first."""
        return [served.headers.get("traceparent", "") for served in self._upstream.served]

    def stop(self) -> None:
        super().stop()
        self._upstream.stop()
        self._upstream.close()
