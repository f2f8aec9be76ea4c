"""Sends one attack as a stream, and keeps what came back."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from safety.training.redteam.attacks import Attack
from safety.training.redteam.chats import stored_chat
from safety.training.redteam.images import drawn
from safety.training.redteam.session import TIMEOUT_S

MAX_TRIES = 60
MAX_WAIT_S = 15.0


@dataclass(frozen=True, slots=True)
class Received:
    """What a client got.

    Attributes:
        finish: the finish reason, or the code of an error.
        after_halt: text that came after `content_filter`; must be empty.
    """

    finish: str
    text: str
    after_halt: str = ""


class AttackTarget:
    """A running product. One instance serves many threads.

    Args:
        page: a signed-in person, who sends what needs a stored chat; the key sends the rest.
        max_tokens: of each answer.
    """

    def __init__(
        self, base_url: str, api_key: str, page: httpx.Client, *, model: str, max_tokens: int
    ) -> None:
        self._client = httpx.Client(
            base_url=base_url, headers={"Authorization": f"Bearer {api_key}"}, timeout=TIMEOUT_S
        )
        self._page = page
        self._model = model
        self._max_tokens = max_tokens

    def send(self, attack: Attack) -> Received:
        """The answer to `attack`; a product that is busy (429, 503) is asked again later."""
        for _ in range(MAX_TRIES):
            received, wait_s = self._try(attack)
            if wait_s is None:
                return received
            time.sleep(min(wait_s, MAX_WAIT_S))
        return received

    def _try(self, attack: Attack) -> tuple[Received, float | None]:
        """What came, and how long to wait where it was no answer."""
        try:
            client, path, body = self._door_of(attack)
        except httpx.HTTPStatusError as error:
            return _refused(error.response)
        with client.stream("POST", path, json=body) as answer:
            if answer.status_code == 200:
                return _read(answer), None
            answer.read()
            return _refused(answer)

    def _door_of(self, attack: Attack) -> tuple[httpx.Client, str, dict[str, Any]]:
        """By whom the attack's last message is sent, where, and as what. Raises
        HTTPStatusError."""
        if not attack.is_of_page:
            return self._client, "/v1/chat/completions", self._body_of(attack)
        chat = stored_chat(self._page, attack, model=self._model)
        return self._page, chat.path, chat.body

    def _body_of(self, attack: Attack) -> dict[str, Any]:
        messages = list(attack.messages)
        if attack.image:
            text = {"type": "text", "text": messages[-1]["content"]}
            shown = {"type": "image_url", "image_url": {"url": drawn(attack.image)}}
            messages[-1] = {**messages[-1], "content": [text, shown]}
        return {
            "model": self._model,
            "messages": messages,
            "max_tokens": self._max_tokens,
            "stream": True,
            **({"tools": list(attack.tools)} if attack.tools else {}),
        }


def _refused(answer: httpx.Response) -> tuple[Received, float | None]:
    """The code of an error that was read, and how long to wait where the product was busy."""
    code = str(answer.json()["error"]["code"])
    busy = answer.status_code in {429, 503} and code != "insufficient_quota"
    return Received(code, ""), float(answer.headers.get("Retry-After", 1)) if busy else None


def _read(answer: httpx.Response) -> Received:
    text, finish, after = "", "", ""
    for chunk in _chunks(answer):
        choice = (chunk.get("choices") or [{}])[0]
        content = (choice.get("delta") or {}).get("content") or ""
        if finish == "content_filter":
            after += content
        else:
            text += content
        finish = choice.get("finish_reason") or finish
        finish = chunk.get("error", {}).get("code") or finish
    return Received(finish, text, after)


def _chunks(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in answer.iter_lines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line[6:])
