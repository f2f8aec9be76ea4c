"""The services that are needed and not configured, started and stopped together."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from infra.services.broker import BrokerService
from infra.services.postgres import PostgresService
from infra.services.process import Service
from infra.services.valkey import ValkeyService

SERVICES: tuple[type[Service], ...] = (PostgresService, ValkeyService, BrokerService)
"""All that can be embedded. Each class says which variable configures one from outside, and what
else is to be known of it (`Service`)."""
SERVICE_VARIABLES = tuple(service.variable for service in SERVICES)


class ServiceBundle:
    """Embedded services for every variable of `SERVICE_VARIABLES` that `environment` lacks.

    A configured URL is never shadowed by an embedded server, whether it can be reached or not.
    """

    def __init__(
        self, data_dir: Path, environment: Mapping[str, str], *, throw_away: bool = False
    ) -> None:
        """
        Args:
            throw_away: for tests; faster, and `destroy()` deletes all data.
        """
        self.data_dir = data_dir
        self._by_variable: dict[str, Service] = {
            service.variable: service(data_dir / service.name, durable=not throw_away)
            for service in SERVICES
            if not environment.get(service.variable)
        }

    @property
    def services(self) -> list[Service]:
        return list(self._by_variable.values())

    def service(self, variable: str) -> Service | None:
        """The embedded service behind `variable`; None when it is configured from outside."""
        return self._by_variable.get(variable)

    def reserve(self) -> dict[str, str]:
        """Choose all ports, for a later `start`.

        Returns:
            The variables to set, by name, as `start` will confirm them.
        """
        return {variable: service.reserve() for variable, service in self._by_variable.items()}

    def start(self) -> dict[str, str]:
        """Start all of them; on any failure none is left running.

        Returns:
            The variables to set, by name.
        """
        try:
            for service in self._by_variable.values():
                service.start()
        except BaseException:
            self.stop()
            raise
        return {variable: service.url for variable, service in self._by_variable.items()}

    def stop(self) -> None:
        """Stop all of them, at the same time: each takes its own while to write its data."""
        if not self._by_variable:
            return
        with ThreadPoolExecutor(len(self._by_variable)) as threads:
            list(threads.map(Service.stop, self._by_variable.values()))

    def destroy(self) -> None:
        """Stop all of them and delete their data."""
        self.stop()
        for service in self._by_variable.values():
            service.destroy()
