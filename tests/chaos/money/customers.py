"""Customers who use the product over HTTP and come back when their connection breaks.

Each order ends with a `Receipt`: what its client saw, in order. A client never gives up a
generation that it knows of; it resumes as the page does (`Last-Event-ID`), or repeats its
request under the same `Idempotency-Key`, as a program does.
"""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid4

import httpx
import orjson

from tests.api.users import Person
from tests.chaos.reader import Wire, read_stream

TIMEOUT_S = 300.0
_LOST = "idempotency_answer_lost"
_AGAIN = frozenset({409, 429, 500, 502, 503, 504})

Manner = Literal["page", "page_cancels", "stream", "whole", "leaves"]
MANNERS: tuple[Manner, ...] = ("page", "page_cancels", "stream", "whole", "leaves")


class PromptRefused(Exception):
    """The safety policy blocked the prompt: nothing ran, and the client does not ask again."""


class AnswerLost(Exception):
    """The web process died between a generation's row and its stream: nothing was delivered
    under this `Idempotency-Key` and nothing will be; the product says so and asks for a new one.
    """


class NotServed(AssertionError):
    """The product did not serve a patient client in time."""


@dataclass(frozen=True)
class Order:
    """What a customer wants, all of it chosen by the run's seed.

    Attributes:
        tokens: how long the answer is to be.
        events: after how many events the client cancels or leaves, where it does.
        options: further parameters of the request.
    """

    customer: int
    manner: Manner
    prompt: str
    tokens: int
    events: int
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Receipt:
    """What one client saw.

    Attributes:
        wire: all events it read, once each; of a `whole` answer none.
        text: what it received.
        reported_usage: prompt and completion tokens as the API reported them; None: none reported.
        broken: how often its connection broke.
        refused: its prompt was blocked.
    """

    order: Order
    generation_id: UUID | None = None
    wire: Wire = field(default_factory=Wire)
    text: str = ""
    reported_usage: tuple[int, int] | None = None
    broken: int = 0
    refused: bool = False


class Customer:
    """One person with an API key, who may reach any web process.

    Args:
        urls: of the web processes.
    """

    def __init__(self, person: Person, secret: str, urls: Sequence[str]) -> None:
        self.person = person
        self.organization_id = UUID(person.organization_id)
        self._page = person.browser
        self.program = httpx.Client(timeout=60, headers={"Authorization": f"Bearer {secret}"})
        self._urls = itertools.cycle(urls)

    def close(self) -> None:
        self.program.close()
        self._page.close()

    def place(self, order: Order) -> Receipt:
        """Carry an order out, to its end. Raises NotServed."""
        receipt = Receipt(order)
        try:
            match order.manner:
                case "page" | "page_cancels":
                    self._ask_on_page(receipt)
                case "stream":
                    self._stream(receipt)
                case "whole":
                    self._whole(receipt)
                case "leaves":
                    self._leave(receipt)
        except PromptRefused:
            receipt.refused = True
        return receipt

    def read_again(self, generation_id: UUID) -> Wire:
        """The whole stream of a generation that has ended, as it was delivered."""
        receipt = Receipt(Order(0, "page", "", 0, 0), generation_id)
        self._resume(receipt)
        return receipt.wire

    def get(self, path: str) -> Any:
        """JSON from the product, as the signed-in person."""
        return patiently(lambda: self._page.get(self._url(path))).json()

    # Manners

    def _ask_on_page(self, receipt: Receipt) -> None:
        conversation = patiently(
            lambda: self._page.post(self._url("/api/conversations"), json={})
        ).json()["id"]
        path = f"/api/conversations/{conversation}/messages"
        body = {"content": receipt.order.prompt, "max_tokens": receipt.order.tokens}
        body |= receipt.order.options
        self._begin(receipt, self._page, path, body, found=lambda: self._turn_of(conversation))
        if receipt.generation_id is None:
            return  # the turn was stored and nothing ran: the web process died in between
        if receipt.order.manner == "page_cancels" and not receipt.wire.done:
            cancel = f"/api/generations/{receipt.generation_id}/cancel"
            patiently(lambda: self._page.post(self._url(cancel)))
        self._resume(receipt)
        receipt.text = receipt.wire.text

    def _stream(self, receipt: Receipt) -> None:
        body = self._completion(receipt.order) | {
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        key = {"Idempotency-Key": str(uuid4())}
        deadline = time.monotonic() + TIMEOUT_S
        while not receipt.wire.done:
            before = receipt.wire
            seen = before.events
            receipt.wire = Wire()
            try:
                self._begin(receipt, self.program, "/v1/chat/completions", body, headers=key)
            except AnswerLost:
                assert not seen, "what a client has read is kept"
                key = {"Idempotency-Key": str(uuid4())}
            again = receipt.wire.events
            # The same answer, from its first event; another one where the first never ran, and
            # nobody has read more of it than that it begins.
            assert again[: len(seen)] == seen[: len(again)] or not before.text, (before, again)
            _check_time(deadline, receipt)
        receipt.text = receipt.wire.text
        usages = [chunk["usage"] for chunk in receipt.wire.chunks if chunk.get("usage")]
        if usages:
            receipt.reported_usage = _usage(usages[-1])

    def _whole(self, receipt: Receipt) -> None:
        body = self._completion(receipt.order)
        while True:
            key = {"Idempotency-Key": str(uuid4())}
            try:
                answer = patiently(
                    lambda key=key: self.program.post(  # type: ignore[misc]
                        self._url("/v1/chat/completions"), json=body, headers=key
                    ),
                    receipt,
                )
                break
            except AnswerLost:
                continue
        receipt.generation_id = UUID(answer.headers["X-Parley-Generation-Id"])
        found = answer.json()
        receipt.text = found["choices"][0]["message"]["content"]
        receipt.reported_usage = _usage(found["usage"])

    def _leave(self, receipt: Receipt) -> None:
        body = self._completion(receipt.order) | {"stream": True}
        self._begin(receipt, self.program, "/v1/chat/completions", body)
        receipt.text = receipt.wire.text

    # Connections

    def _begin(
        self,
        receipt: Receipt,
        client: httpx.Client,
        path: str,
        body: dict[str, Any],
        *,
        headers: dict[str, str] | None = None,
        found: Callable[[], tuple[bool, UUID | None]] | None = None,
    ) -> None:
        """Post until an answer begins, and read it as far as it or the order goes.

        Args:
            found: asked after a broken connection, whether the request arrived all the same,
                and which generation it became.
        """
        headers = {"Last-Event-ID": "0", **(headers or {})}  # its events shall be numbered
        manner, deadline = receipt.order.manner, time.monotonic() + TIMEOUT_S
        until = receipt.order.events if manner in {"page_cancels", "leaves"} else None
        while True:
            _check_time(deadline, receipt)
            try:
                with client.stream("POST", self._url(path), json=body, headers=headers) as answer:
                    if answer.status_code == 200:
                        receipt.generation_id = UUID(answer.headers["X-Parley-Generation-Id"])
                        read_stream(answer, receipt.wire, until=until)
                        if (receipt.wire.error or {}).get("code") == _LOST:
                            receipt.wire = Wire()
                            raise AnswerLost
                        return
                    check_refusal(answer)
            except httpx.TransportError:
                receipt.broken += 1
                if found is not None:
                    arrived, receipt.generation_id = found()
                    if arrived:
                        return
            time.sleep(0.3)

    def _resume(self, receipt: Receipt) -> None:
        """Read on until `[DONE]`, or until the product says that nothing is kept: the process
        died before the first event, and nothing may have been billed."""
        path = f"/api/generations/{receipt.generation_id}/events"
        deadline = time.monotonic() + TIMEOUT_S
        while not receipt.wire.done:
            _check_time(deadline, receipt)
            headers = {"Last-Event-ID": str(receipt.wire.last_id)}
            try:
                with self._page.stream("GET", self._url(path), headers=headers) as answer:
                    if answer.status_code == 404:
                        return
                    if answer.status_code == 200:
                        read_stream(answer, receipt.wire)
                    else:
                        check_refusal(answer)
            except httpx.TransportError:
                pass
            if not receipt.wire.done:
                receipt.broken += 1
                time.sleep(0.3)

    def _turn_of(self, conversation: str) -> tuple[bool, UUID | None]:
        """What became of a turn whose connection broke before its first byte, as the page
        finds out: it looks at the conversation."""
        messages = self.get(f"/api/conversations/{conversation}")["messages"]
        answers = [message for message in messages if message["role"] == "assistant"]
        if not answers:
            return False, None
        if answers[-1]["status"] == "blocked":
            raise PromptRefused
        generation_id = answers[-1]["generation_id"]
        return True, UUID(generation_id) if generation_id else None

    def _completion(self, order: Order) -> dict[str, Any]:
        return {
            "model": "auto",
            "messages": [{"role": "user", "content": order.prompt}],
            "max_tokens": order.tokens,
            **order.options,
        }

    def _url(self, path: str) -> str:
        return next(self._urls) + path


def patiently(ask: Callable[[], httpx.Response], receipt: Receipt | None = None) -> httpx.Response:
    """Ask until somebody answers with success."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            answer = ask()
            if answer.is_success:
                return answer
            check_refusal(answer)
        except httpx.TransportError:
            if receipt is not None:
                receipt.broken += 1
        _check_time(deadline, receipt)
        time.sleep(0.3)


def check_refusal(answer: httpx.Response) -> None:
    """Only refusals that tell a client to come back are right here."""
    answer.read()
    code = ""
    if "json" in answer.headers.get("content-type", ""):
        code = (orjson.loads(answer.content).get("error") or {}).get("code") or ""
    if code == "content_policy_violation":
        raise PromptRefused
    assert answer.status_code in _AGAIN, f"{answer.status_code}: {answer.text}"
    if code == _LOST:
        raise AnswerLost


def _check_time(deadline: float, receipt: Receipt | None) -> None:
    if time.monotonic() > deadline:
        raise NotServed(f"not served within {TIMEOUT_S:g} s: {receipt}")


def _usage(reported: dict[str, Any]) -> tuple[int, int]:
    return reported["prompt_tokens"], reported["completion_tokens"]
