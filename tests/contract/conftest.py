"""The official OpenAI client against the running product and the real model."""

from collections.abc import Iterator
from dataclasses import dataclass

import openai
import pytest

from tests.api.users import Person, sign_up
from tests.support.product import Product


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is of one run."""
    for item in items:
        if "tests/contract/" in item.nodeid:
            item.add_marker("live")


@pytest.fixture(scope="session")
def product(live_product: Product) -> Product:
    return live_product


@pytest.fixture(scope="session")
def developer(product: Product) -> Iterator[Person]:
    user = sign_up(product.url)
    # The plan of a new organization allows few requests a minute; these tests are many.
    product.inside(_PROMOTE.format(organization_id=user.organization_id))
    yield user
    user.browser.close()


_PROMOTE = (
    "from backend.accounts.models import Organization;"
    " Organization.objects.filter(id='{organization_id}').update(plan_id='premium')"
)


@pytest.fixture(scope="session")
def secret(developer: Person) -> str:
    return str(developer.new_key()["secret"])


@pytest.fixture
def client(product: Product, secret: str) -> Iterator[openai.OpenAI]:
    """No retries: a test sees the first answer."""
    with openai.OpenAI(
        base_url=f"{product.url}/v1", api_key=secret, max_retries=0, timeout=120
    ) as made:
        yield made


@dataclass(frozen=True)
class LimitedKey:
    """A key whose project has a limit of tokens that one long request reaches."""

    owner: Person
    id: str
    secret: str
    tokens_per_minute: int

    def refused(self) -> int:
        """How many of its requests were refused for it."""
        outcomes = self.owner.browser.get(f"/api/keys/{self.id}/outcomes").json()["data"]
        return sum(one["requests"] for one in outcomes if one["status"] == 429)


@pytest.fixture(scope="session")
def limited_key(developer: Person) -> LimitedKey:
    # What a short answer has used is given back within seconds.
    tokens = 4_000
    project = developer.browser.post("/api/projects", json={"name": "Limited"}).json()["id"]
    answer = developer.browser.put(
        f"/api/projects/{project}/rate-limits/smollm2-135m",
        json={"requests_per_minute": 1000, "tokens_per_minute": tokens},
    )
    assert answer.status_code == 200, answer.text
    key = developer.new_key(project_id=project)
    return LimitedKey(developer, key["id"], key["secret"], tokens)
