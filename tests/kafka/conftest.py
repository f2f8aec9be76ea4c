"""These tests start Apache Kafka: they are skipped where `KAFKA_LIBS` names no jars."""

import os
from pathlib import Path

import pytest

from tests.kafka.libraries import FOLDER


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(FOLDER):
        return
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=f"`make test-kafka`, or {FOLDER}, runs it"))
