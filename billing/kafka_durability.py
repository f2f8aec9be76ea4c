"""Says which of our topics can lose records that Kafka has acknowledged.

Money does not depend on it, for reconciliation publishes again what the log lost; reports are late
until then, and an operator who chose such settings by accident should hear of it at start.
"""

from datetime import timedelta
from typing import Any

import structlog
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource
from kafka.errors import KafkaError

log = structlog.get_logger(__name__)

_LOOPBACK = ("127.0.0.1:", "localhost:", "[::1]:")


def warn_of_losses(
    admin: KafkaAdminClient, topics: list[str], *, servers: str, kept_for: timedelta
) -> None:
    """Log a warning for each of `topics` that can lose records within `kept_for`.

    A single broker on this machine, such as the embedded one, is passed over: it has no replicas
    to offer. Brokers that do not tell their settings are passed over too.
    """
    if servers.startswith(_LOOPBACK) and "," not in servers:
        return
    try:
        found = losses(admin, topics, kept_for=kept_for)
    except KafkaError as error:
        log.info("topic_settings_unknown", reason=repr(error))
        return
    for topic, reasons in found.items():
        log.warning("topic_can_lose_records", topic=topic, reasons=reasons)


def losses(
    admin: KafkaAdminClient, topics: list[str], *, kept_for: timedelta
) -> dict[str, list[str]]:
    """Return the reasons for which a topic can lose records, by topic.

    A topic that cannot, or that the asked broker has not heard of yet, is absent. Raises
    KafkaError where the brokers do not tell their settings.
    """
    described = [each for each in admin.describe_topics(topics) if each["partitions"]]
    if not described:
        return {}
    resources = [ConfigResource("topic", topic["name"]) for topic in described]
    settings = admin.describe_configs(resources, config_filter="all")["topic"]
    found = {
        topic["name"]: _reasons(_replicas(topic), _values(settings[topic["name"]]), kept_for)
        for topic in described
    }
    return {topic: reasons for topic, reasons in found.items() if reasons}


def _replicas(described: dict[str, Any]) -> int:
    return min(len(partition["replica_nodes"]) for partition in described["partitions"])


def _values(settings: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: setting["value"] for name, setting in settings.items()}


def _reasons(replicas: int, settings: dict[str, str], kept_for: timedelta) -> list[str]:
    reasons = []
    if replicas < 2:
        reasons.append("replication factor 1: a lost disk loses records; use 3")
    elif int(settings.get("min.insync.replicas", "1")) < 2:
        reasons.append("min.insync.replicas=1: one replica acknowledges alone; use 2")
    if settings.get("unclean.leader.election.enable") == "true":
        reasons.append("unclean.leader.election.enable=true: a stale replica may lead; use false")
    retention_ms = int(settings.get("retention.ms", "-1"))
    if 0 <= retention_ms < kept_for.total_seconds() * 1000:
        hours = kept_for.total_seconds() / 3600
        reasons.append(
            f"retention.ms={retention_ms}: reconciliation compares the last {hours:.0f} hours;"
            " keep records at least as long"
        )
    if int(settings.get("retention.bytes", "-1")) >= 0:
        reasons.append("retention.bytes is set: records may go before they are read; use -1")
    return reasons
