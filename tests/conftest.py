"""Fixtures for every test; the machinery behind them is in tests/support."""

import os
from collections.abc import Iterator

import pytest
import redis


@pytest.fixture(autouse=True)
def empty_redis() -> Iterator[None]:
    """Each test finds Redis empty: limits, leases and caches of another test are gone."""
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.flushdb()
    yield
