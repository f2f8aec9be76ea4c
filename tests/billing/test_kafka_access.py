"""Kafka that asks for TLS, for a certificate, or for a name: through a door in front of the broker.

The broker of the tests has neither (decision 0300). The door's TLS is OpenSSL's, its SASL is what
brokers speak; librdkafka, which nobody here wrote, passes it as our clients do.
"""

import json
import ssl
import threading
import time
import uuid
from base64 import b64decode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from django.db import transaction
from kafka.errors import KafkaError

from billing import kafka
from billing.aggregator.ingest import ingest
from billing.aggregator.worker import Consumer
from billing.events import TOPIC_RECORDED
from billing.kafka_access import PASSWORD_MECHANISMS, KafkaAccess, kafka_access
from billing.kafka_failures import KafkaUnusableError
from billing.kafka_token import ClientCredentials
from billing.models import UsageEvent
from billing.relay.worker import Relay
from billing.services import usage_record_create
from infra.services.ports import free_port
from tests.billing import factories
from tests.support.certificates import Authority
from tests.support.kafka_door import PASSWORD, USERNAME, KafkaDoor

WAIT_S = 60.0
TOKEN = "one-that-was-given"
OpenDoor = Callable[..., KafkaDoor]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def door(services: None, settings: Any) -> Iterator[OpenDoor]:
    """Opens doors in front of the run's broker; the product's clients are sent to the last one."""
    doors: list[KafkaDoor] = []
    broker = settings.KAFKA_BOOTSTRAP_SERVERS

    def open_one(tls: ssl.SSLContext | None, **options: Any) -> KafkaDoor:
        doors.append(KafkaDoor(broker, tls=tls, **options))
        settings.KAFKA_BOOTSTRAP_SERVERS = doors[-1].address
        return doors[-1]

    yield open_one
    for one in doors:
        one.stop()


class TokenServer:
    """Gives a token to who shows the credentials, and counts."""

    def __init__(self) -> None:
        given: list[dict[str, list[str]]] = []
        self.given = given

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                shown = b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode()
                known = unquote(shown) == f"{USERNAME}:{PASSWORD}"
                self.send_response(200 if known else 401)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                if known:
                    given.append(parse_qs(body))
                    answer = {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600}
                    self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *args: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/token"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def tokens() -> Iterator[TokenServer]:
    server = TokenServer()
    yield server
    server.stop()


def said(authority: Authority, mechanism: str = "", **more: str) -> KafkaAccess:
    """The variables of a deployment, as the settings read them."""
    name = {"KAFKA_SASL_USERNAME": USERNAME, "KAFKA_SASL_PASSWORD": PASSWORD} if mechanism else {}
    return kafka_access(
        {
            "KAFKA_SECURITY_PROTOCOL": "SASL_SSL" if mechanism else "SSL",
            "KAFKA_SSL_CA_FILE": str(authority.file),
            "KAFKA_SASL_MECHANISM": mechanism,
            **name,
            **more,
        }
    )


def one_record_passes() -> None:
    """The four clients of the product: admin, producer, consumer of a group, leaving it."""
    kafka.ensure_topics()
    group = topic = f"access-{uuid.uuid4().hex}"
    mark = topic.encode()
    producer = kafka.producer()
    producer.send(topic, value=mark, key=mark).get(timeout=WAIT_S)
    producer.close()
    consumer = kafka.consumer(group=group, member=f"{group}-1", topics=[topic])
    values: set[bytes] = set()
    deadline = time.monotonic() + WAIT_S
    while mark not in values:
        assert time.monotonic() < deadline, "the record did not come back"
        for batch in consumer.poll(timeout_ms=200).values():
            values |= {record.value for record in batch}
    consumer.commit()
    consumer.close()
    kafka.leave_group(group=group, member=f"{group}-1")


def librdkafka(door: KafkaDoor, password: str = PASSWORD, **options: str) -> AdminClient:
    """An independent client: what it cannot pass proves nothing of ours."""
    named = {name.replace("_", "."): value for name, value in options.items()}
    credentials = {"sasl.username": USERNAME, "sasl.password": password}
    return AdminClient({"bootstrap.servers": door.address, **credentials, **named})


def test_clients_speak_tls(door: OpenDoor, authority: Authority, settings: Any) -> None:
    opened = door(authority.server_context("broker"))
    settings.KAFKA_ACCESS = said(authority)
    one_record_passes()
    theirs = librdkafka(opened, security_protocol="ssl", ssl_ca_location=str(authority.file))
    assert TOPIC_RECORDED in theirs.list_topics(timeout=WAIT_S).topics


def test_clients_show_their_certificate(
    door: OpenDoor, authority: Authority, settings: Any
) -> None:
    door(authority.server_context("broker", clients=True))
    ours = authority.issue("parley")
    settings.KAFKA_ACCESS = said(
        authority,
        KAFKA_SSL_CERT_FILE=str(ours.certificate),
        KAFKA_SSL_KEY_FILE=str(ours.key),
    )
    one_record_passes()


@pytest.mark.parametrize("mechanism", PASSWORD_MECHANISMS)
def test_clients_prove_who_they_are(
    door: OpenDoor, authority: Authority, settings: Any, mechanism: str
) -> None:
    opened = door(authority.server_context("broker"), mechanism=mechanism)
    settings.KAFKA_ACCESS = said(authority, mechanism)
    one_record_passes()
    assert (opened.refused, opened.authenticated > 0) == (0, True)
    theirs = {
        "security_protocol": "sasl_ssl",
        "sasl_mechanism": mechanism,
        "ssl_ca_location": str(authority.file),
    }
    assert TOPIC_RECORDED in librdkafka(opened, **theirs).list_topics(timeout=WAIT_S).topics
    passed = opened.authenticated
    with pytest.raises(KafkaException):
        librdkafka(opened, "wrong", **theirs).list_topics(timeout=2)
    assert (opened.authenticated, opened.refused > 0) == (passed, True)


def test_clients_bring_a_token_and_ask_for_it_once(
    door: OpenDoor, authority: Authority, settings: Any, tokens: TokenServer
) -> None:
    opened = door(
        authority.server_context("broker"), mechanism="OAUTHBEARER", token=lambda t: t == TOKEN
    )
    settings.KAFKA_ACCESS = said(
        authority,
        "OAUTHBEARER",
        KAFKA_SASL_TOKEN_URL=tokens.url,
        KAFKA_SASL_TOKEN_SCOPE="kafka",
    )
    one_record_passes()
    assert opened.authenticated > len(tokens.given), "one for a client, not one for a connection"
    assert tokens.given[0] == {"grant_type": ["client_credentials"], "scope": ["kafka"]}


def test_wrong_password_reaches_no_broker_and_is_named(
    door: OpenDoor, authority: Authority, settings: Any
) -> None:
    opened = door(authority.server_context("broker"), mechanism="SCRAM-SHA-256")
    settings.KAFKA_ACCESS = said(authority, "SCRAM-SHA-256", KAFKA_SASL_PASSWORD="wrong")
    with pytest.raises(KafkaUnusableError) as refused:
        kafka.leave_group(group="any", member="any-1")
    assert (opened.authenticated, opened.refused > 0) == (0, True)
    message = str(refused.value)
    assert f"{opened.address} refused '{USERNAME}' by SCRAM-SHA-256" in message
    assert "KAFKA_SASL_PASSWORD" in message
    assert "'wrong'" not in message


def test_other_mechanism_than_the_brokers_is_named(
    door: OpenDoor, authority: Authority, settings: Any
) -> None:
    door(authority.server_context("broker"), mechanism="SCRAM-SHA-512")
    settings.KAFKA_ACCESS = said(authority, "PLAIN")
    with pytest.raises(KafkaUnusableError, match="KAFKA_SASL_MECHANISM"):
        kafka.leave_group(group="any", member="any-1")


def test_broker_that_is_away_is_no_refusal(settings: Any) -> None:
    settings.KAFKA_BOOTSTRAP_SERVERS = f"127.0.0.1:{free_port()}"
    with pytest.raises(KafkaError) as failure:
        kafka.leave_group(group="any", member="any-1")
    assert "refused '" not in str(failure.value)
    assert "KAFKA_SASL" not in str(failure.value)


def test_certificate_of_another_authority_is_refused(
    door: OpenDoor, authority: Authority, settings: Any, tmp_path: Path
) -> None:
    opened = door(authority.server_context("broker"), mechanism="PLAIN")
    settings.KAFKA_ACCESS = said(Authority(tmp_path / "other", "another"), "PLAIN")
    with pytest.raises(KafkaUnusableError, match="KAFKA_SSL_CA_FILE"):
        kafka.leave_group(group="any", member="any-1")
    assert (opened.authenticated, opened.refused) == (0, 0), "no password was sent"


def test_no_token_is_a_failure_that_is_tried_again(tokens: TokenServer) -> None:
    """KafkaError: relay and consumers wait and build a new client."""
    with pytest.raises(KafkaError, match="no token"):
        ClientCredentials(tokens.url, USERNAME, "wrong", "").token()
    with pytest.raises(KafkaError, match="no token"):
        ClientCredentials("http://127.0.0.1:1/token", USERNAME, PASSWORD, "").token()


@pytest.mark.django_db(transaction=True)
def test_usage_is_relayed_and_aggregated_through_tls_and_scram(
    door: OpenDoor, authority: Authority, settings: Any
) -> None:
    opened = door(authority.server_context("broker"), mechanism="SCRAM-SHA-512")
    settings.KAFKA_ACCESS = said(authority, "SCRAM-SHA-512")
    kafka.ensure_topics()
    facts = factories.facts(factories.principal(), output_tokens=7)
    with transaction.atomic():
        usage_record_create(facts=facts)
    relay = Relay()
    assert relay.publish_batch() == 1
    relay.close()
    consumer = Consumer(group=f"access-{uuid.uuid4().hex}", store=ingest)
    deadline = time.monotonic() + WAIT_S
    while not UsageEvent.objects.filter(event_id=facts.generation_id).exists():
        assert time.monotonic() < deadline, "the event did not arrive"
        consumer.consume_batch()
    consumer.close()
    assert opened.refused == 0


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"KAFKA_SECURITY_PROTOCOL": "TLS"}, "there are PLAINTEXT, SSL"),
        ({"KAFKA_SECURITY_PROTOCOL": "SASL_SSL"}, "KAFKA_SASL_MECHANISM is ''"),
        ({"KAFKA_SASL_MECHANISM": "PLAIN"}, "KAFKA_SECURITY_PROTOCOL is PLAINTEXT"),
        ({"KAFKA_SSL_CA_FILE": "/ca.pem"}, "KAFKA_SECURITY_PROTOCOL is PLAINTEXT"),
        (
            {"KAFKA_SECURITY_PROTOCOL": "SSL", "KAFKA_SSL_KEY_FILE": "/key.pem"},
            "without KAFKA_SSL_CERT_FILE",
        ),
        (
            {
                "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
                "KAFKA_SASL_MECHANISM": "SCRAM-SHA-256",
                "KAFKA_SASL_USERNAME": "parley",
            },
            "needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD",
        ),
        (
            {
                "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
                "KAFKA_SASL_MECHANISM": "OAUTHBEARER",
                "KAFKA_SASL_USERNAME": "parley",
                "KAFKA_SASL_PASSWORD": "secret",
            },
            "needs KAFKA_SASL_TOKEN_URL",
        ),
    ],
)
def test_contradicting_variables_are_named(variables: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        kafka_access(variables)


def test_no_secret_is_shown() -> None:
    access = kafka_access(
        {
            "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
            "KAFKA_SASL_MECHANISM": "PLAIN",
            "KAFKA_SASL_USERNAME": "parley",
            "KAFKA_SASL_PASSWORD": "a secret",
        }
    )
    assert "a secret" not in repr(access)
