"""Fixtures of the gateway's tests; see tests/support/gateway.py."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from backend.accounts.principal import Principal
from backend.generation.gateway import Gateway
from infra.load.upstream import Behaviour, SyntheticUpstream
from tests.support.gateway import caller, pools_of, running_gateway


@pytest.fixture
async def start_upstream() -> AsyncIterator[Callable[..., Awaitable[SyntheticUpstream]]]:
    """Starts a synthetic upstream with the given `Behaviour`."""
    started: list[SyntheticUpstream] = []

    async def start(**behaviour: object) -> SyntheticUpstream:
        upstream = SyntheticUpstream(Behaviour(**{"rate": 200.0, **behaviour}))  # type: ignore[arg-type]
        await upstream.start()
        started.append(upstream)
        return upstream

    yield start
    for upstream in started:
        await upstream.stop()


@pytest.fixture
async def upstream(
    start_upstream: Callable[..., Awaitable[SyntheticUpstream]],
) -> SyntheticUpstream:
    return await start_upstream()


@pytest.fixture
async def gateway(transactional_db: None, upstream: SyntheticUpstream) -> AsyncIterator[Gateway]:
    """A running gateway with one replica, `upstream`."""
    async with running_gateway(pools_of(upstream)) as running:
        yield running


@pytest.fixture
async def principal(transactional_db: None) -> Principal:
    return await caller()
