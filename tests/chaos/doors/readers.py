"""People and programs at the product's doors; each comes back until it is served.

All ask at temperature 0, so that there is one right text for each prompt: what is missing, or there
twice, shows against the answer that was given before anything was killed.
"""

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal
from uuid import UUID, uuid4

import httpx
import openai
import orjson

from tests.api.users import sign_up
from tests.chaos.money.customers import TIMEOUT_S, Customer, Order, patiently

PROMPTS = (
    "Tell me a long story about a lighthouse and its keeper.",
    "Explain in detail how the tides work.",
    "Describe the life of a honey bee from egg to old age.",
    "Write about the history of the bicycle.",
)
MAX_TOKENS = 160
GREEDY = {"model": "auto", "temperature": 0}
_BATCH_LINES = 4
_AGAIN = frozenset({409, 429, 500, 502, 503, 504})

Door = Literal["page", "page_cancels", "stream", "leaves", "client", "client_whole", "batch"]
DOORS: tuple[Door, ...] = (
    "page",
    "page",
    "page_cancels",
    "stream",
    "leaves",
    "client",
    "client_whole",
)


@dataclass
class Read:
    """One answer, as somebody got it.

    Attributes:
        is_whole: they read it to its end, or got it in one.
        failed: it ended with an error after its beginning.
        pause_s: the longest time between two of its events.
        key: its `Idempotency-Key`, where it is stored under one.
    """

    door: Door
    prompt: str
    tokens: int
    generation_id: UUID | None
    text: str
    is_whole: bool = True
    failed: bool = False
    broken: int = 0
    pause_s: float = 0.0
    reported: tuple[int, int] | None = None
    key: str | None = None


class Reader:
    """One person with an account and a key, who asks one thing after the other.

    Attributes:
        refusals: how often each HTTP status told them to come back later.
    """

    def __init__(self, urls: Sequence[str], seed: int) -> None:
        """
        Args:
            urls: of the web processes that they may reach; the official client keeps to one.
        """
        self._url = urls[seed % len(urls)]
        self.person = sign_up(self._url)
        self.secret = str(self.person.new_key()["secret"])
        self.customer = Customer(self.person, self.secret, urls)
        self.refusals: Counter[int] = Counter()
        # The official client's library: a line for each request.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self._choose = random.Random(seed)
        self._client = openai.OpenAI(
            base_url=f"{self._url}/v1",
            api_key=self.secret,
            max_retries=0,
            timeout=60,
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [self._count]}),
        )
        for client in (self.person.browser, self.customer.program):
            client.event_hooks["response"].append(self._count)

    def close(self) -> None:
        self._client.close()
        self.customer.close()

    def ask(self, door: Door | None = None, *, prompt: str = "", tokens: int = 0) -> list[Read]:
        """One thing at a door, a random one where none is named; to its end."""
        choose = self._choose
        at: Door = door if door is not None else choose.choice(DOORS)
        prompt = prompt or choose.choice(PROMPTS)
        tokens = tokens or choose.randint(20, MAX_TOKENS)
        if at == "client":
            return [self._by_client(prompt, tokens)]
        if at == "client_whole":
            return [self._whole_by_client(prompt, tokens)]
        if at == "batch":
            return self._by_batch()
        order = Order(0, at, prompt, tokens, choose.randint(1, 20), GREEDY)
        receipt = self.customer.place(order)
        wire = receipt.wire
        return [
            Read(
                at,
                prompt,
                tokens,
                receipt.generation_id,
                wire.text,
                is_whole=wire.done,
                failed=wire.error is not None,
                broken=receipt.broken,
                pause_s=wire.longest_pause_s,
                reported=receipt.reported_usage,
            )
        ]

    def text_under(self, read: Read) -> str | None:
        """What is stored of an answer under its key; None where nothing is kept of it."""
        again = Read(read.door, read.prompt, read.tokens, None, "", key=read.key)
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            assert time.monotonic() < deadline, read
            try:
                self._stream_into(again) if read.door == "client" else self._whole_into(again)
            except openai.APIStatusError as refused:
                if _code(refused) == "idempotency_answer_lost":
                    return None
                assert refused.status_code in _AGAIN, refused
            else:
                assert again.generation_id == read.generation_id
                return again.text
            time.sleep(0.3)

    # The official client

    def _by_client(self, prompt: str, tokens: int) -> Read:
        """A stream; after a broken connection the same again, under the same key."""
        read = Read("client", prompt, tokens, None, "", is_whole=False, key=str(uuid4()))
        deadline = time.monotonic() + TIMEOUT_S
        while not read.is_whole:
            assert time.monotonic() < deadline, read
            seen, read.text = read.text, ""
            try:
                self._stream_into(read)
            except openai.APIStatusError as refused:
                if _code(refused) == "idempotency_answer_lost":
                    assert not seen, f"what a client has read is kept: {read}"
                    read.key = str(uuid4())
                elif refused.status_code not in _AGAIN:
                    raise
            except (openai.APIConnectionError, httpx.TransportError):
                read.broken += 1
            except openai.APIError as error:  # an error event in the stream
                if error.code == "idempotency_answer_lost":
                    assert not seen, f"what a client has read is kept: {read}"
                    read.key = str(uuid4())
                else:
                    read.failed = read.is_whole = True
            shared = min(len(seen), len(read.text))
            assert seen[:shared] == read.text[:shared], "the same answer, from its beginning"
            if not read.is_whole:
                read.text = max(seen, read.text, key=len)
                time.sleep(0.3)
        return read

    def _stream_into(self, read: Read) -> None:
        raw = self._client.chat.completions.with_raw_response.create(
            **self._body(read.prompt, read.tokens),
            stream=True,
            stream_options={"include_usage": True},
            extra_headers={"Idempotency-Key": str(read.key)},
        )
        read.generation_id = UUID(raw.headers["X-Parley-Generation-Id"])
        times = []
        for chunk in raw.parse():
            times.append(time.monotonic())
            for choice in chunk.choices:
                read.text += choice.delta.content or ""
            if chunk.usage is not None:
                read.reported = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
                read.is_whole = True  # it is the last but `[DONE]`
        pauses = (later - earlier for earlier, later in pairwise(times))
        read.pause_s = max(read.pause_s, max(pauses, default=0.0))

    def _whole_by_client(self, prompt: str, tokens: int) -> Read:
        read = Read("client_whole", prompt, tokens, None, "", key=str(uuid4()))
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            assert time.monotonic() < deadline, read
            try:
                self._whole_into(read)
                return read
            except openai.APIStatusError as refused:
                if _code(refused) == "idempotency_answer_lost":
                    read.key = str(uuid4())
                elif refused.status_code not in _AGAIN:
                    raise
            except openai.APIConnectionError:
                read.broken += 1
            time.sleep(0.3)

    def _whole_into(self, read: Read) -> None:
        raw = self._client.chat.completions.with_raw_response.create(
            **self._body(read.prompt, read.tokens),
            extra_headers={"Idempotency-Key": str(read.key)},
        )
        answer = raw.parse()
        assert answer.usage is not None
        read.generation_id = UUID(raw.headers["X-Parley-Generation-Id"])
        read.text = answer.choices[0].message.content or ""
        read.reported = answer.usage.prompt_tokens, answer.usage.completion_tokens

    # Batches

    def _by_batch(self) -> list[Read]:
        """Some lines in a file; each comes back once."""
        asked = [
            (str(n), self._choose.choice(PROMPTS), self._choose.randint(20, MAX_TOKENS))
            for n in range(_BATCH_LINES)
        ]
        lines = [
            {
                "custom_id": name,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": self._body(prompt, tokens),
            }
            for name, prompt, tokens in asked
        ]
        text = "\n".join(orjson.dumps(line).decode() for line in lines)
        batch = self._begun_batch(text)
        deadline = time.monotonic() + 4 * TIMEOUT_S
        while batch["status"] not in {"completed", "failed", "expired", "cancelled"}:
            assert time.monotonic() < deadline, batch
            time.sleep(0.5)
            batch = self._get(f"/v1/batches/{batch['id']}").json()
        assert batch["status"] == "completed", batch
        said: dict[str, dict[str, Any]] = {}
        for name in ("output_file_id", "error_file_id"):
            if batch[name]:
                found = self._get(f"/v1/files/{batch[name]}/content").text.splitlines()
                for line in map(orjson.loads, found):
                    assert line["custom_id"] not in said, "a line comes back once"
                    said[line["custom_id"]] = line
        return [_line_read(said[name], prompt, tokens) for name, prompt, tokens in asked]

    def _begun_batch(self, text: str) -> dict[str, Any]:
        """Begun once: after a broken connection the program looks whether it was."""
        mark = str(uuid4())
        file = patiently(
            lambda: self._program.post(
                f"{self._url}/v1/files", files={"file": ("in", text)}, data={"purpose": "batch"}
            )
        ).json()
        asked = {
            "input_file_id": file["id"],
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {"mark": mark},
        }
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            assert time.monotonic() < deadline, asked
            try:
                answer = self._program.post(f"{self._url}/v1/batches", json=asked)
                if answer.is_success:
                    return dict(answer.json())
                assert answer.status_code in _AGAIN, answer.text
            except httpx.TransportError:
                pass
            time.sleep(0.5)
            begun = self._get("/v1/batches?limit=100").json()["data"]
            for batch in begun:
                if batch["metadata"].get("mark") == mark:
                    return dict(batch)

    # Requests

    def _count(self, response: httpx.Response) -> None:
        if response.status_code >= 429:
            self.refusals[response.status_code] += 1

    @property
    def _program(self) -> httpx.Client:
        return self.customer.program

    def _get(self, path: str) -> httpx.Response:
        return patiently(lambda: self._program.get(f"{self._url}{path}"))

    @staticmethod
    def _body(prompt: str, tokens: int) -> dict[str, Any]:
        return {
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": tokens,
            **GREEDY,
        }


def _line_read(line: dict[str, Any], prompt: str, tokens: int) -> Read:
    if line.get("error") or line["response"]["status_code"] != 200:
        return Read("batch", prompt, tokens, None, "", failed=True)
    body = line["response"]["body"]
    usage = body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]
    text = body["choices"][0]["message"]["content"]
    return Read("batch", prompt, tokens, None, text, reported=usage)


def _code(refused: openai.APIStatusError) -> str:
    body = refused.body if isinstance(refused.body, dict) else {}
    return str(body.get("code") or "")


class Crowd:
    """Readers who ask until they are told to end.

    Args:
        batches: of the readers; the others ask at the other doors.

    Attributes:
        reads: what has been read so far, by all of them, in the order of its end.
    """

    def __init__(self, readers: Sequence[Reader], batches: Reader | None = None) -> None:
        self._all = [*readers, *([batches] if batches else [])]
        self._batches = batches
        self.reads: list[Read] = []
        self._own: dict[Reader, list[Read]] = {reader: [] for reader in self._all}
        self._over = threading.Event()
        self._pool = ThreadPoolExecutor(len(self._all))
        self._work: list[Future[None]] = []

    def of(self, reader: Reader) -> list[Read]:
        return self._own[reader]

    def begin(self) -> None:
        self._work = [self._pool.submit(self._ask, reader) for reader in self._all]

    def read_more(self, answers: int) -> None:
        """Wait until so many more answers have been read."""
        enough, deadline = len(self.reads) + answers, time.monotonic() + 2 * TIMEOUT_S
        while len(self.reads) < enough:
            assert time.monotonic() < deadline, f"{len(self.reads)} of {enough} answers are read"
            self.check()
            time.sleep(0.05)

    def check(self) -> None:
        """Raise what a reader could not bear."""
        for work in self._work:
            if work.done():
                work.result()

    def end(self) -> None:
        """Let everybody read to the end what they have asked for."""
        self._over.set()
        for work in self._work:
            work.result()

    def leave(self) -> None:
        """Nobody asks again, and nobody is waited for."""
        self._over.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, reader: Reader) -> None:
        door: Door | None = "batch" if reader is self._batches else None
        while not self._over.is_set():
            read = reader.ask(door)
            self._own[reader] += read
            self.reads += read
