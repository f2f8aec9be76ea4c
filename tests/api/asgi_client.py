"""The product's own ASGI application in this process, asked from any address: for tests of what
is limited by address, which a product on loopback would meet from one address only."""

from typing import Any

import httpx

from backend.asgi import application

PUBLIC = "198.51.100.7"


class AsgiClient(httpx.AsyncClient):
    """A browser at `address`: keeps cookies, and sends the CSRF token as our page does."""

    def __init__(self, address: str = PUBLIC, **options: Any) -> None:
        transport = httpx.ASGITransport(app=application, client=(address, 40_000))
        super().__init__(
            transport=transport,
            base_url="http://localhost",
            event_hooks={"request": [self._add_token]},
            **options,
        )

    async def _add_token(self, request: httpx.Request) -> None:
        token = self.cookies.get("csrftoken")
        if request.method not in {"GET", "HEAD", "OPTIONS"} and token:
            request.headers.setdefault("X-CSRFToken", token)

    async def sign_in(self, email: str, password: str) -> httpx.Response:
        """At the page's door."""
        await self.get("/")
        return await self.post("/api/auth/login", json={"email": email, "password": password})

    async def sign_in_as_staff(self, email: str, password: str) -> httpx.Response:
        """At the admin's door."""
        await self.get("/admin/login/")
        return await self.post(
            "/admin/login/",
            data={
                "csrfmiddlewaretoken": self.cookies["csrftoken"],
                "username": email,
                "password": password,
            },
        )
