"""The official OpenAI client against the running product and the real model."""

from collections.abc import Iterator

import openai
import pytest

from tests.api.users import Person, sign_up
from tests.support.product import Product


@pytest.fixture(scope="session")
def product(live_product: Product) -> Product:
    return live_product


@pytest.fixture(scope="session")
def developer(product: Product) -> Iterator[Person]:
    user = sign_up(product.url)
    # The plan of a new organization allows few requests a minute; these tests are many.
    product.manage("shell", "-c", _PROMOTE.format(organization_id=user.organization_id))
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
