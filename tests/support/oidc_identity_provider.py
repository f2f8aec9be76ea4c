"""An OIDC identity provider of npm's oidc-provider, which nobody here wrote, as a process."""

import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from backend.enterprise.oidc import callback_url, logged_out_url
from infra.launcher import frontend
from infra.services.ports import free_port

FOLDER = Path(__file__).parent / "oidc_provider"
CLIENT_ID, CLIENT_SECRET = "parley: test", "s+cret &= %20"  # what an encoding could lose


@contextmanager
def oidc_identity_provider(
    accounts: dict[str, dict[str, Any]], **client: Any
) -> Iterator["OIDCIdentityProvider"]:
    """Serve `accounts` (subject to claims) to this installation, a client with `client` beside
    what every one has."""
    node = frontend.find_node()
    _ensure_packages(node)
    port = free_port()
    registered = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "redirect_uris": [callback_url()],
        "post_logout_redirect_uris": [logged_out_url()],
        **client,
    }
    options = json.dumps({"port": port, "client": registered, "accounts": accounts})
    command = [str(node.node), str(FOLDER / "server.mjs"), options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield OIDCIdentityProvider(f"http://localhost:{port}")
        finally:
            process.kill()


class OIDCIdentityProvider:
    """The provider's pages, as one person's browser walks through them."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.browser = httpx.AsyncClient()

    async def sign_in(self, url: str, subject: str) -> str:
        """Sign in and consent; the path that the provider sends the browser back to."""
        answer = await self.browser.get(url)
        while True:
            answer, there = await self._followed(answer)
            if there is not None:
                return there
            prompt = re.search(r'name="prompt" value="(\w+)"', answer.text)
            assert prompt is not None, answer.text
            fields = {"prompt": prompt[1], "login": subject, "password": "any"}
            answer = await self.browser.post(self._action(answer), data=fields)

    async def sign_out(self, url: str) -> str:
        """Confirm at the provider's page; where that leads."""
        page = await self.browser.get(url)
        xsrf = re.search(r'name="xsrf" value="([^"]+)"', page.text)
        assert xsrf is not None, page.text
        fields = {"xsrf": xsrf[1], "logout": "yes"}
        answer = await self.browser.post(self._action(page), data=fields)
        return str(answer.headers["location"])

    async def _followed(self, answer: httpx.Response) -> tuple[httpx.Response, str | None]:
        while answer.is_redirect:
            there = urljoin(str(answer.url), answer.headers["location"])
            if not there.startswith(self.issuer):
                back = urlsplit(there)
                return answer, f"{back.path}?{back.query}"
            answer = await self.browser.get(there)
        return answer, None

    def _action(self, page: httpx.Response) -> str:
        found = re.search(r'action="([^"]+)"', page.text)
        assert found is not None, page.text
        return urljoin(str(page.url), found[1])


def _ensure_packages(node: frontend.Node) -> None:
    digest = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()
    stamp = FOLDER / "node_modules" / ".parley-lock.sha256"
    if not stamp.exists() or stamp.read_text() != digest:
        frontend.install(node, FOLDER)
        stamp.write_text(digest)
