"""Tokens for OAUTHBEARER: an authorization server gives them for our client credentials.

RFC 6749, section 4.4, and RFC 7628. kafka-python asks at each connection.
"""

import threading
import time

import httpx2
from kafka.errors import KafkaConnectionError
from kafka.net.sasl.oauth import AbstractTokenProvider

from backend.platform.guarded_client import bounded_post

_TIMEOUT_S = 5.0
_MARGIN_S = 30.0
_DEFAULT_LIFETIME_S = 300.0


class ClientCredentials(AbstractTokenProvider):
    """A token, kept until shortly before its end."""

    def __init__(self, url: str, client_id: str, client_secret: str, scope: str) -> None:
        self._url, self._scope = url, scope
        self._credentials = (client_id, client_secret)
        self._lock = threading.Lock()
        self._token, self._until = "", 0.0

    def token(self) -> str:
        """Raises KafkaConnectionError where the authorization server gives none: clients retry."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._token, lifetime = self._ask()
                self._until = time.monotonic() + max(lifetime - _MARGIN_S, lifetime / 2)
            return self._token

    def _ask(self) -> tuple[str, float]:
        form = {"grant_type": "client_credentials"}
        if self._scope:
            form["scope"] = self._scope
        try:
            answer = bounded_post(
                self._url, data=form, auth=self._credentials, timeout_s=_TIMEOUT_S
            )
            answer.raise_for_status()
            body = answer.json()
            return str(body["access_token"]), float(body.get("expires_in", _DEFAULT_LIFETIME_S))
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            raise KafkaConnectionError(f"no token from {self._url}: {error!r}") from error
