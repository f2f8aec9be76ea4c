"""The ways to reach Apache Kafka: each passes records, and a wrong password passes none."""

import json
import threading
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from billing import kafka
from billing.kafka_access import KafkaAccess, kafka_access
from billing.kafka_failures import KafkaUnusableError
from infra.services.ports import LOOPBACK, free_port
from tests.kafka.apache import ApacheKafka
from tests.support.certificates import Authority

USERNAME, PASSWORD = "parley", "a password"
RECORDS = 50
WAIT_S = 30.0
_JAAS = "org.apache.kafka.common.security"


class SecuredKafka(ApacheKafka):
    """A node with a listener for names and passwords, and one for certificates, over TLS."""

    def __init__(self, directory: Path, authority: Authority) -> None:
        port, self.by_name, self.by_certificate = free_port(), free_port(), free_port()
        controller = free_port()
        own = {
            "PLAINTEXT": port,
            "SASL_SSL": self.by_name,
            "SSL": self.by_certificate,
        }
        advertised = ",".join(f"{name}://{LOOPBACK}:{at}" for name, at in own.items())
        pair = authority.issue("broker")
        keystore = directory / "keystore.pem"
        keystore.write_text(pair.key.read_text() + pair.certificate.read_text())
        sasl = "listener.name.sasl_ssl"
        settings = {
            "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
            "listeners": f"{advertised},CONTROLLER://{LOOPBACK}:{controller}",
            "advertised.listeners": advertised,
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL"
            ),
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            f"{sasl}.plain.sasl.jaas.config": (
                f'{_JAAS}.plain.PlainLoginModule required username="admin" password="admin"'
                f' user_{USERNAME}="{PASSWORD}" user_admin="admin";'
            ),
            f"{sasl}.scram-sha-256.sasl.jaas.config": f"{_JAAS}.scram.ScramLoginModule required;",
            f"{sasl}.scram-sha-512.sasl.jaas.config": f"{_JAAS}.scram.ScramLoginModule required;",
            f"{sasl}.oauthbearer.sasl.jaas.config": (
                f"{_JAAS}.oauthbearer.OAuthBearerLoginModule required"
                ' unsecuredLoginStringClaim_sub="broker";'
            ),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(keystore),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(authority.file),
            "listener.name.ssl.ssl.client.auth": "required",
        }
        super().__init__(directory / "kafka", port=port, settings=settings)

    def _format_options(self) -> tuple[str, ...]:
        return tuple(
            option
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
            for option in (
                "--add-scram",
                f'{mechanism}=[name="{USERNAME}",password="{PASSWORD}"]',
            )
        )


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, authority: Authority
) -> Iterator[SecuredKafka]:
    running = SecuredKafka(tmp_path_factory.mktemp("secured"), authority)
    running.start()
    yield running
    running.destroy()


@pytest.fixture(scope="module")
def token_url() -> Iterator[str]:
    """Yield the address of a server that gives unsigned tokens, as Kafka takes in tests."""
    server = HTTPServer((LOOPBACK, 0), _Tokens)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{LOOPBACK}:{server.server_port}/token"
    server.shutdown()


class _Tokens(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        now = int(time.time())
        claims = {"sub": USERNAME, "iat": now, "exp": now + 3600, "scope": ["parley"]}
        token = ".".join([_encoded({"alg": "none"}), _encoded(claims), ""])
        body = json.dumps({"access_token": token, "token_type": "Bearer", "expires_in": 3600})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments: object) -> None: ...


def _encoded(part: dict[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def access(authority: Authority, mechanism: str, token_url: str = "", **more: str) -> KafkaAccess:
    variables = {
        "KAFKA_SECURITY_PROTOCOL": "SASL_SSL" if mechanism else "SSL",
        "KAFKA_SSL_CA_FILE": str(authority.file),
        **more,
    }
    if mechanism:
        variables["KAFKA_SASL_MECHANISM"] = mechanism
        variables.setdefault("KAFKA_SASL_USERNAME", USERNAME)
        variables.setdefault("KAFKA_SASL_PASSWORD", PASSWORD)
    if mechanism == "OAUTHBEARER":
        variables["KAFKA_SASL_TOKEN_URL"] = token_url
    return kafka_access(variables)


def records_pass() -> None:
    """The four clients of the product: admin, producer, consumer of a group, leaving it."""
    kafka.ensure_topics()
    group = topic = f"access-{uuid.uuid4().hex}"
    producer = kafka.producer()
    sent = [producer.send(topic, value=b"%d" % n, key=b"org") for n in range(RECORDS)]
    for each in sent:
        each.get(timeout=WAIT_S)
    producer.close()
    consumer = kafka.consumer(group=group, member=f"{group}-1", topics=[topic])
    read: list[bytes] = []
    deadline = time.monotonic() + WAIT_S
    while len(read) < RECORDS:
        assert time.monotonic() < deadline, f"{len(read)} of {RECORDS} records came back"
        for batch in consumer.poll(timeout_ms=200).values():
            read += [record.value for record in batch]
    assert read == [b"%d" % n for n in range(RECORDS)]
    consumer.commit()
    consumer.close()
    kafka.leave_group(group=group, member=f"{group}-1")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_records_pass_by_mechanism(
    broker: SecuredKafka, authority: Authority, token_url: str, settings: Any, mechanism: str
) -> None:
    settings.KAFKA_BOOTSTRAP_SERVERS = f"{LOOPBACK}:{broker.by_name}"
    settings.KAFKA_ACCESS = access(authority, mechanism, token_url)
    records_pass()


def test_records_pass_by_certificate(
    broker: SecuredKafka, authority: Authority, settings: Any
) -> None:
    ours = authority.issue("parley")
    settings.KAFKA_BOOTSTRAP_SERVERS = f"{LOOPBACK}:{broker.by_certificate}"
    settings.KAFKA_ACCESS = access(
        authority,
        "",
        KAFKA_SSL_CERT_FILE=str(ours.certificate),
        KAFKA_SSL_KEY_FILE=str(ours.key),
    )
    records_pass()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_wrong_password_is_refused(
    broker: SecuredKafka, authority: Authority, settings: Any, mechanism: str
) -> None:
    settings.KAFKA_BOOTSTRAP_SERVERS = f"{LOOPBACK}:{broker.by_name}"
    settings.KAFKA_ACCESS = access(authority, mechanism, KAFKA_SASL_PASSWORD="another")
    with pytest.raises(KafkaUnusableError, match="KAFKA_SASL_PASSWORD"):
        kafka.ensure_topics()
