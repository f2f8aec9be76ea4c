"""A page asks for a dozen things when it opens; several pages open at once."""

from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.api.users import sign_up
from tests.support.scripted import ScriptedProduct

# More at one web process than it has connections to the database.
REQUESTS = 60


def test_more_requests_of_sessions_than_database_connections_are_served(
    scripted_product: ScriptedProduct,
) -> None:
    person = sign_up(scripted_product.url)
    cookies = dict(person.browser.cookies)

    def ask(_: int) -> int:
        with httpx.Client(base_url=scripted_product.url, cookies=cookies, timeout=60) as client:
            return client.get("/api/me").status_code

    with ThreadPoolExecutor(REQUESTS) as tabs:
        assert list(tabs.map(ask, range(REQUESTS))) == [200] * REQUESTS
