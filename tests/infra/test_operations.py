"""docs/operations.md tells the truth: variables, and a backup that can be restored."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg

from infra.launcher.procfile import ROOT
from infra.services.postgres import PostgresService

CODE = ("backend", "billing", "safety", "inference", "infra", "voice")
# Not ours: the shell's, the compiler's, Django's, torchrun's, CUDA's, and those of vLLM, which the
# benchmark sets for it.
COMMON = {
    *("PATH", "CXX", "XDG_CACHE_HOME", "DJANGO_SETTINGS_MODULE", "RANK", "CUDA_VISIBLE_DEVICES"),
    *("VLLM_CPU_KVCACHE_SPACE", "VLLM_CPU_OMP_THREADS_BIND"),
}
# Read by OpenTelemetry's SDK, which backend/platform/tracing.py and the engine start.
OF_THE_SDK = {
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
}
READS = re.compile(
    r"""(?:\benv(?:_flag|_list|ironment)?\(|environ(?:\.get\(|\[)|os\.getenv\(|_VARIABLE = )"""
    r"""\s*["']([A-Z][A-Z_]+)["']"""
)


def variables_in_code() -> set[str]:
    names = set()
    for folder in CODE:
        for path in (ROOT / folder).rglob("*.py"):
            names |= set(READS.findall(path.read_text()))
    names |= set(re.findall(r"\$\{?([A-Z_]+)", (ROOT / "Procfile").read_text()))
    for pools in (ROOT / "infra" / "pools.toml", ROOT / "infra" / "models" / "voice.pools.toml"):
        names |= set(re.findall(r"^\w.*\$\{([A-Z_]+)", pools.read_text(), re.MULTILINE))
    return names - COMMON


def variables_in_table() -> set[str]:
    rows = re.findall(
        r"^\| (`[A-Z_`, ]+`) \|", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE
    )
    return {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}


def test_table_of_variables_lists_what_the_code_reads() -> None:
    table, code = variables_in_table(), variables_in_code()
    assert sorted(code - table) == [], "these are read and not in docs/operations.md"
    assert sorted(table - code - OF_THE_SDK) == [], (
        "these are in docs/operations.md and read by nobody"
    )


def _manage(*arguments: str, database: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database},
        capture_output=True,
        text=True,
        check=False,
    )


def test_dump_can_be_restored(passable: Path) -> None:
    service = PostgresService(passable / "postgres", durable=False)
    dump = passable / "parley.dump"
    try:
        service.start()
        with psycopg.connect(service.url) as connection:
            connection.execute("CREATE TABLE kept (n int)")
            connection.execute("INSERT INTO kept VALUES (1)")
        assert _manage("dump", str(dump), database=service.url).returncode == 0
        assert dump.stat().st_mode & 0o077 == 0
        with psycopg.connect(service.url) as connection:
            connection.execute("DELETE FROM kept")

        done = _manage("restore", str(dump), database=service.url)

        assert done.returncode == 0, done.stderr
        with psycopg.connect(service.url) as connection:
            assert connection.execute("SELECT n FROM kept").fetchall() == [(1,)]
    finally:
        service.destroy()


def test_command_without_services_fails_with_one_sentence(tmp_path: Path) -> None:
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PARLEY_") and name not in {"DATABASE_URL", "REDIS_URL"}
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=ROOT,
        env={**bare, "PARLEY_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "is not set" in done.stderr
    assert "Traceback" not in done.stderr
