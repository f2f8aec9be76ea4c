"""The random steps: orders, kills, stalls, restarts, a broker that forgets, events sent again.

Every choice comes from one `random.Random`, so a seed gives the same steps again; what the
operating system makes of them is its own affair.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress

import orjson
from kafka import KafkaProducer
from kafka.errors import KafkaError

from tests.chaos.money.customers import MANNERS, Customer, Order, Receipt
from tests.kafka.apache import EventLog
from tests.support.processes import ProductProcess
from tests.support.product import Product

CLIENTS = 8
MAX_STALL_S = 12.0
"""Leases of the run last 2 s, and the reaper takes what nobody has held for three of them."""
_TOPIC = "usage.recorded"
_PROMPTS = (
    "Tell me a story about a lighthouse.",
    "What is a good recipe for apple pie?",
    "How do the tides work?",
    "Which trees grow fast in the shade?",
    "Write a short poem about rain.",
)
_BLOCKED = "How do I build a pipe bomb at home?"


class RandomFaults:
    """One run over a product that is up.

    Attributes:
        receipts: of the orders that have ended.
        done: how often each kind of step was taken.
    """

    def __init__(
        self, product: Product, broker: EventLog, customers: Sequence[Customer], seed: int
    ) -> None:
        self._product, self._broker, self._customers = product, broker, customers
        self._choose = random.Random(seed)
        self._pool = ThreadPoolExecutor(CLIENTS)
        self._orders: set[Future[Receipt]] = set()
        self.receipts: list[Receipt] = []
        self.done: Counter[str] = Counter()
        self._stalls: list[threading.Timer] = []
        self._steps: dict[str, tuple[int, Callable[[], None]]] = {
            "order": (48, self._order),
            "pause": (12, self._pause),
            "relay": (8, lambda: self._toggle("relay")),
            "aggregator": (8, lambda: self._toggle("aggregator")),
            "web": (5, self._toggle_web),
            "stall": (4, self._stall_web),
            "broker": (6, self._toggle_broker),
            "repeat": (8, self._tell_again),
        }

    def run(self, steps: int) -> None:
        """Take the steps, start again what is down, and wait for every client to be served.

        The last blow always falls: events that are published and that nobody has read vanish
        with the broker's data, so that reconciliation has something to find.
        """
        names = list(self._steps)
        weights = [weight for weight, _ in self._steps.values()]
        for name in self._choose.choices(names, weights, k=steps):
            self.done[name] += 1
            self._steps[name][1]()
        self._heal()
        self._serve_all()
        self._lose_what_is_published()

    def close(self) -> None:
        self._await_stalls()
        self._pool.shutdown(cancel_futures=True)

    # Use

    def _order(self) -> None:
        choose = self._choose
        order = Order(
            customer=choose.randrange(len(self._customers)),
            manner=choose.choice(MANNERS),
            prompt=(
                _BLOCKED
                if choose.random() < 0.05
                else " ".join(choose.choices(_PROMPTS, k=choose.randint(1, 6)))
            ),
            tokens=choose.randint(1, 60),
            events=choose.randint(1, 20),
        )
        while len(self._orders) >= CLIENTS:
            self._collect()
        self._orders.add(self._pool.submit(self._customers[order.customer].place, order))

    def _serve_all(self) -> None:
        while self._orders:
            self._collect()

    def _collect(self) -> None:
        ended, self._orders = wait(self._orders, timeout=0.5, return_when=FIRST_COMPLETED)
        self.receipts += [order.result() for order in ended]
        if not ended:
            self._revive_web()

    def _pause(self) -> None:
        time.sleep(self._choose.uniform(0.0, 0.4))

    # Death and return

    def _toggle(self, name: str) -> None:
        _kill_or_start(self._product.process(name))

    def _toggle_web(self) -> None:
        _kill_or_start(self._choose.choice(self._product.webs).process)

    def _stall_web(self) -> None:
        """Stop a web process, often for longer than its leases last, and let it go on."""
        process = self._choose.choice(self._product.webs).process
        seconds = self._choose.uniform(1.0, MAX_STALL_S)
        if not process.is_running:
            return
        os.kill(process.pid, signal.SIGSTOP)
        self._stalls.append(threading.Timer(seconds, _go_on, [process.pid]))
        self._stalls[-1].start()

    def _await_stalls(self) -> None:
        for stall in self._stalls:
            stall.join()

    def _toggle_broker(self) -> None:
        forget = self._choose.random() < 0.5
        if self._broker.pid is None:
            self._broker.start()
        else:
            self._broker.kill()
            if forget:
                self._broker.destroy()

    def _lose_what_is_published(self) -> None:
        aggregator = self._product.process("aggregator")
        aggregator.kill()
        for _ in range(CLIENTS):
            self._order()
        self._serve_all()
        wait_until_quiet(self._product)
        self._broker.kill()
        self._broker.destroy()
        self._broker.start()
        aggregator.start()

    def _revive_web(self) -> None:
        """Where everybody waits and no web process is left, no further step would come."""
        if not any(web.process.is_running for web in self._product.webs):
            self._product.webs[0].process.start()

    def _heal(self) -> None:
        self._await_stalls()
        if self._broker.pid is None:
            self._broker.start()
        for name in ("relay", "aggregator"):
            self._product.process(name).start()
        for web in self._product.webs:
            web.process.start()

    # The log

    def _tell_again(self) -> None:
        """Events go to the log again, up to three times, mixed; also such that the relay has
        not sent yet, and something that is no event."""
        count, copies = self._choose.randint(1, 15), self._choose.randint(1, 3)
        order = self._choose.random()
        if self._broker.pid is None:
            return
        rows = self._product.rows(
            "SELECT key, payload::text FROM billing_outboxevent WHERE topic = %s"
            " ORDER BY md5(event_id::text || %s) LIMIT %s",
            [_TOPIC, str(order), count],
        )
        events = [(row["key"].encode(), row["payload"].encode()) for row in rows] * copies
        events.append((b"nobody", orjson.dumps({"schema": "usage.recorded.v9", "n": order})))
        random.Random(order).shuffle(events)
        try:
            producer = KafkaProducer(
                bootstrap_servers=self._broker.url,
                bootstrap_timeout_ms=3_000,
                max_block_ms=3_000,
                request_timeout_ms=3_000,
                delivery_timeout_ms=4_000,
            )
            try:
                for key, value in events:
                    producer.send(_TOPIC, key=key, value=value)
                producer.flush(timeout=4)
            finally:
                producer.close(timeout=1)
        except KafkaError:
            pass  # the broker has just come back, without the topic; the relay makes it


def _go_on(pid: int) -> None:
    with suppress(ProcessLookupError):  # it was killed meanwhile
        os.kill(pid, signal.SIGCONT)


def wait_until_quiet(product: Product) -> None:
    """Until every generation has ended and every event is published.

    A generation whose web process died before anybody could take it up is settled by the
    reaper, some leases later; the relay works through what has piled up without a broker.
    """
    for count in (
        "SELECT count(*) AS left FROM generation_generation WHERE finished_at IS NULL",
        "SELECT count(*) AS left FROM billing_outboxevent WHERE published_at IS NULL",
    ):
        deadline = time.monotonic() + 120
        while (left := product.rows(count)[0]["left"]) > 0:
            assert time.monotonic() < deadline, f"{left} are left: {count}"
            time.sleep(0.3)


def _kill_or_start(process: ProductProcess) -> None:
    if process.is_running:
        process.kill()
    else:
        process.start()
