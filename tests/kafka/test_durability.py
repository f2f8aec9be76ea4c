"""Topics that can lose records are named at start, and what to set instead."""

import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from structlog.testing import capture_logs

from billing import kafka
from billing.events import TOPIC_RECORDED
from billing.kafka_durability import losses
from billing.periods import RECONCILED
from tests.kafka.apache import KafkaCluster

SAFE: dict[str, str] = {}  # the cluster's defaults: three replicas, two in sync
DAY_MS = 86_400_000
WAIT_S = 20.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    running = KafkaCluster(Path(tmp_path_factory.mktemp("cluster")), 3)
    running.start()
    yield running
    running.close()


@pytest.mark.parametrize(
    ("replicas", "settings", "named"),
    [
        (3, SAFE, []),
        (1, SAFE, ["replication factor 1"]),
        (3, {"min.insync.replicas": "1"}, ["min.insync.replicas=1"]),
        (3, {"unclean.leader.election.enable": "true"}, ["unclean.leader.election.enable=true"]),
        (3, {"retention.ms": str(DAY_MS)}, [f"retention.ms={DAY_MS}"]),
        (3, {"retention.ms": str(2 * DAY_MS)}, []),
        (3, {"retention.ms": "-1"}, []),
        (3, {"retention.bytes": "1000000"}, ["retention.bytes"]),
    ],
)
def test_settings_that_lose_records_are_named(
    cluster: KafkaCluster, replicas: int, settings: dict[str, str], named: list[str]
) -> None:
    admin = KafkaAdminClient(bootstrap_servers=cluster.url)
    topic = f"durability-{uuid.uuid4().hex}"
    admin.create_topics([NewTopic(topic, 2, replicas, topic_configs=settings)])
    reasons: list[str] = []

    def are_named() -> bool:
        reasons[:] = losses(admin, [topic], kept_for=RECONCILED).get(topic, [])
        return [reason.split(":")[0].split(" is set")[0] for reason in reasons] == named

    # Each node hears of a new topic in its own time, and any of them answers.
    assert eventually(are_named), reasons
    admin.close()


def test_start_warns_of_each_unsafe_topic(cluster: KafkaCluster, settings: Any) -> None:
    settings.KAFKA_BOOTSTRAP_SERVERS = cluster.url
    admin = KafkaAdminClient(bootstrap_servers=cluster.url)
    admin.create_topics([NewTopic(TOPIC_RECORDED, 6, 1)])
    admin.close()

    def is_warned_of() -> bool:
        with capture_logs() as logs:
            kafka.ensure_topics()
        warned = [line for line in logs if line["event"] == "topic_can_lose_records"]
        return [(line["topic"], line["log_level"]) for line in warned] == [
            (TOPIC_RECORDED, "warning")
        ]

    assert eventually(is_warned_of)


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
