"""How the brokers are reached: TLS, and who we say we are (SASL). From the settings to each client.

    PLAINTEXT        neither
    SSL              TLS; with a certificate of our own where the brokers ask for one
    SASL_PLAINTEXT   a name and its proof, unencrypted
    SASL_SSL         both

Mechanisms: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 with name and password; OAUTHBEARER with a token
that an authorization server gives us by its client credentials (RFC 6749, section 4.4; RFC 7628).
Not here: GSSAPI (Kerberos) and AWS_MSK_IAM.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = (*PASSWORD_MECHANISMS, "OAUTHBEARER")


@dataclass(frozen=True, slots=True)
class KafkaAccess:
    """What the variables of `kafka_access` say. Files are read anew for each client, so that a
    certificate that was replaced is used by the next one."""

    protocol: str
    mechanism: str
    username: str
    password: str = field(repr=False)
    ca_file: str
    cert_file: str
    key_file: str
    key_password: str = field(repr=False)
    token_url: str
    scope: str

    def tls(self) -> ssl.SSLContext | None:
        """The context of a connection to a broker; None without TLS.

        Raises OSError (ssl.SSLError is one) where a file is missing or holds no certificate.
        """
        if not self.protocol.endswith("SSL"):
            return None
        context = ssl.create_default_context(cafile=self.ca_file or None)
        if self.cert_file:
            context.load_cert_chain(
                self.cert_file, self.key_file or None, self.key_password or None
            )
        return context

    def options(self) -> dict[str, Any]:
        """What every client of kafka-python is built with. Raises OSError as `tls` does."""
        options: dict[str, Any] = {"security_protocol": self.protocol}
        if (context := self.tls()) is not None:
            options["ssl_context"] = context
        if not self.protocol.startswith("SASL"):
            return options
        options["sasl_mechanism"] = self.mechanism
        if self.mechanism == "OAUTHBEARER":
            # Here: the settings import this module, and few processes are clients of Kafka.
            from billing.kafka_token import ClientCredentials

            options["sasl_oauth_token_provider"] = ClientCredentials(
                self.token_url, self.username, self.password, self.scope
            )
        else:
            options["sasl_plain_username"] = self.username
            options["sasl_plain_password"] = self.password
        return options


def kafka_access(environ: Mapping[str, str]) -> KafkaAccess:
    """What the variables say. Raises ValueError where they contradict each other."""
    access = KafkaAccess(
        protocol=environ.get("KAFKA_SECURITY_PROTOCOL") or "PLAINTEXT",
        mechanism=environ.get("KAFKA_SASL_MECHANISM") or "",
        username=environ.get("KAFKA_SASL_USERNAME") or "",
        password=environ.get("KAFKA_SASL_PASSWORD") or "",
        ca_file=environ.get("KAFKA_SSL_CA_FILE") or "",
        cert_file=environ.get("KAFKA_SSL_CERT_FILE") or "",
        key_file=environ.get("KAFKA_SSL_KEY_FILE") or "",
        key_password=environ.get("KAFKA_SSL_KEY_PASSWORD") or "",
        token_url=environ.get("KAFKA_SASL_TOKEN_URL") or "",
        scope=environ.get("KAFKA_SASL_TOKEN_SCOPE") or "",
    )
    if (problem := _problem(access)) is not None:
        raise ValueError(problem)
    return access


def _problem(access: KafkaAccess) -> str | None:
    if access.protocol not in PROTOCOLS:
        return f"KAFKA_SECURITY_PROTOCOL is {access.protocol!r}; there are {', '.join(PROTOCOLS)}"
    sasl, tls = access.protocol.startswith("SASL"), access.protocol.endswith("SSL")
    if access.mechanism and not sasl:
        return f"KAFKA_SASL_MECHANISM is set, but KAFKA_SECURITY_PROTOCOL is {access.protocol}"
    if (access.ca_file or access.cert_file) and not tls:
        return f"KAFKA_SSL_… is set, but KAFKA_SECURITY_PROTOCOL is {access.protocol}"
    if access.key_file and not access.cert_file:
        return "KAFKA_SSL_KEY_FILE is set without KAFKA_SSL_CERT_FILE"
    if not sasl:
        return None
    if access.mechanism not in MECHANISMS:
        return f"KAFKA_SASL_MECHANISM is {access.mechanism!r}; there are {', '.join(MECHANISMS)}"
    if not (access.username and access.password):
        return f"{access.mechanism} needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD"
    if access.mechanism == "OAUTHBEARER" and not access.token_url:
        return "OAUTHBEARER needs KAFKA_SASL_TOKEN_URL, which gives tokens for them"
    return None
