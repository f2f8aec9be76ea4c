"""Waiting for the synthetic upstream, which is a process of its own."""

import asyncio

import httpx


async def until_ready(url: str) -> None:
    """Return when the upstream at `url` answers.

    Raises:
        RuntimeError: it did not within 20 seconds.
    """
    async with httpx.AsyncClient() as client:
        for _ in range(200):
            try:
                await client.get(f"{url}/ready")
            except httpx.HTTPError:
                await asyncio.sleep(0.1)
            else:
                return
    raise RuntimeError("the synthetic upstream did not start")
