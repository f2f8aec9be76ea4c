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

    def says(self, text: str) -> None:
        """Every answer from now on, a word a token."""
        self._upstream.behaviour.script = [f"{word} " for word in text.split(" ")]

    @property
    def prompts(self) -> list[list[dict[str, Any]]]:
        """The messages that the upstream was sent, oldest request first."""
        return [served.body["messages"] for served in self._upstream.served]

    def stop(self) -> None:
        super().stop()
        self._upstream.stop()
        self._upstream.close()
