"""Starts again what has died of a product of the tests, as the launcher does in `make run`."""

import contextlib
from collections.abc import Callable

import httpx
import psutil

from infra.services.errors import ServiceError
from infra.services.process import Service
from tests.chaos.doors.targets import Target, asked, is_connected, is_ready, listens, pinged
from tests.support.processes import ProductProcess
from tests.support.product import Product, Web


class Keeper:
    """Of all processes and services of a product, and of its synthetic engine.

    Attributes:
        targets: each of them, to be hit.
    """

    def __init__(
        self, product: Product, engine: ProductProcess, background: tuple[str, ...]
    ) -> None:
        self._processes = [
            engine,
            *(web.process for web in product.webs),
            *(product.process(name) for name in background),
        ]
        self._services = product.services.services
        environment = product.environment
        postgres, valkey, broker = (
            product.services.service(variable)
            for variable in ("DATABASE_URL", "REDIS_URL", "KAFKA_BOOTSTRAP_SERVERS")
        )
        self.targets = [
            Target("PostgreSQL", 6, _running(postgres), lambda _: asked(environment)),
            Target("Valkey", 12, _running(valkey), lambda _: pinged(environment["REDIS_URL"])),
            Target("broker", 6, _running(broker), listens),
            Target(
                "engine", 12, _running(engine), lambda _: is_ready(environment["PARLEY_ENGINE_URL"])
            ),
            *(
                Target(f"web {number}", 3, _running(web.process), _serves(web))
                for number, web in enumerate(product.webs, 1)
            ),
            *(
                Target(name, 2, _running(product.process(name)), is_connected)
                for name in background
            ),
        ]

    def mend(self) -> None:
        """Start what has died, and do not wait until it works."""
        for process in self._processes:
            process.start()
        for service in self._services:
            if service.pid is None:
                # Its port may be one that a connection still ends on: the next time then.
                with contextlib.suppress(ServiceError):
                    service.start_again()


def _running(one: Service | ProductProcess | None) -> Callable[[], list[psutil.Process]]:
    assert one is not None, "a product of the tests has services of its own"

    def running() -> list[psutil.Process]:
        try:
            return [] if one.pid is None else [psutil.Process(one.pid)]
        except psutil.NoSuchProcess:
            return []

    return running


def _serves(web: Web) -> Callable[[psutil.Process], bool]:
    def serves(_: psutil.Process) -> bool:
        try:
            return httpx.get(f"{web.url}/readyz", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    return serves
