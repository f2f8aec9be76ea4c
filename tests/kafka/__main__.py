"""`make test-kafka`: the event log's contract, billing and its chaos against Apache Kafka itself.

Needs Java 17, and Kafka's jars: fetched by Maven, or in the folder that KAFKA_LIBS names. Takes
some twenty minutes on two cores.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from infra.launcher.procfile import ROOT
from tests.kafka.apache import NODES, ApacheKafka
from tests.kafka.libraries import FOLDER, KafkaMissingError, libraries

_ON_ONE_BROKER = ("tests/infra/test_event_log.py", "tests/kafka", "tests/billing")
_KILLS = ("tests/chaos/money",)


def main() -> int:
    try:
        libs = str(libraries())
        with tempfile.TemporaryDirectory() as directory:
            broker = ApacheKafka(Path(directory) / "kafka")
            broker.start()
            try:
                codes = [
                    _pytest(
                        *_ON_ONE_BROKER, **{FOLDER: libs, NODES: "1", broker.variable: broker.url}
                    )
                ]
            finally:
                broker.destroy()
    except KafkaMissingError as error:
        print(error)
        return 2
    codes += [_pytest(*_KILLS, **{FOLDER: libs, NODES: nodes}) for nodes in ("1", "3")]
    return max(codes)


def _pytest(*paths: str, **variables: str) -> int:
    shown = " ".join(f"{name}={value}" for name, value in variables.items() if name != FOLDER)
    print(f"\n{shown} pytest {' '.join(paths)}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "--timeout", "900", *paths]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
