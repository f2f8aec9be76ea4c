"""The launcher's probe behind an https public URL, and with a login that no longer works."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.launcher import probe
from tests.support.product import Product
from tests.support.upstream import UpstreamThread


@pytest.fixture(scope="module")
def product(scratch: Path) -> Iterator[Product]:
    upstream = UpstreamThread(rate=0)
    upstream.start()
    settings = {"PARLEY_PUBLIC_URL": "https://chat.example.com"}
    running = Product(scratch / "https", engine_url=upstream.url, background=(), settings=settings)
    try:
        running.start()
        yield running
    finally:
        running.stop()
        upstream.stop()
        upstream.close()


def ask(product: Product, login: probe.DemoLogin) -> str | None:
    return probe.wait_for_first_token(product.url, login, engine_url=None, timeout=30)


def test_token_is_served_behind_an_https_url(product: Product) -> None:
    assert ask(product, product.demo_login) is None


def test_refused_login_is_tried_once(product: Product) -> None:
    wrong = probe.DemoLogin(product.demo_login.email, "not the password")
    with pytest.raises(probe.LoginRefusedError, match="signing in answered 4"):
        ask(product, wrong)
    assert ask(product, product.demo_login) is None
