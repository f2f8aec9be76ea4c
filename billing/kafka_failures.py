"""Why Kafka cannot be used, where its client says only that it gave up.

kafka-python tries for as long as it is allowed and raises a timeout then; what a broker or a
certificate said meanwhile is in its log alone. Here it is taken from there, so that a wrong
password reads as one in the log of relay and consumers, and not as a broker that is away.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from kafka.errors import (
    AuthorizationError,
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)

from billing.kafka_access import KafkaAccess

_LOGGER = "kafka.net.manager"
_REFUSALS = (
    AuthorizationError,
    IllegalSaslStateError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)


class KafkaUnusableError(KafkaError):
    """No broker could be used in time; the message says what was refused, and what to look at."""


@contextmanager
def explained(servers: str, access: KafkaAccess) -> Iterator[None]:
    """Around the making of a client: a timeout becomes KafkaUnusableError where it has a reason."""
    seen = _LastFailure()
    logger = logging.getLogger(_LOGGER)
    logger.addHandler(seen)
    try:
        yield
    except KafkaTimeoutError as error:
        if seen.failure is None:
            raise
        raise KafkaUnusableError(_message(servers, access, seen.failure)) from error
    finally:
        logger.removeHandler(seen)


class _LastFailure(logging.Handler):
    """The last error that the client's log speaks of; a refusal stays, whatever comes after it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.failure: Exception | None = None

    def emit(self, record: logging.LogRecord) -> None:
        arguments = record.args if isinstance(record.args, tuple) else ()
        for argument in arguments:
            if not isinstance(argument, Exception) or isinstance(argument, KafkaTimeoutError):
                continue
            if not _is_refusal(self.failure) or _is_refusal(argument):
                self.failure = argument


def _is_refusal(failure: Exception | None) -> bool:
    return isinstance(failure, _REFUSALS)


def _message(servers: str, access: KafkaAccess, failure: Exception) -> str:
    said = f"{type(failure).__name__}: {failure}"
    if _is_refusal(failure):
        return (
            f"Kafka at {servers} refused {access.username!r} by {access.mechanism} ({said});"
            " look at KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM"
        )
    if isinstance(failure, KafkaConnectionError) and "Handshake" in str(failure):
        return (
            f"no TLS with Kafka at {servers} ({said}); look at KAFKA_SSL_CA_FILE,"
            " KAFKA_SSL_CERT_FILE and the name in the broker's certificate"
        )
    if access.mechanism and "disconnected" in str(failure):
        # Apache Kafka may close the connection before its refusal has been read.
        return (
            f"Kafka at {servers} closes the connection ({said}); if it refuses {access.username!r}"
            f" by {access.mechanism}, look at KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD and"
            " KAFKA_SASL_MECHANISM"
        )
    return f"Kafka at {servers} cannot be used ({said})"
