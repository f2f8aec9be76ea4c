"""A limit that is reached: the clients wait as `Retry-After` says, and ask again."""

import time
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.api.users import Person
from tests.contract.conftest import LimitedKey
from tests.support.product import Product

MODEL = "smollm2-135m"
LONG = "Say hello. " * 60
# It may write many tokens, for which there must be room, and writes few.
STOP = [".", "!"]
BY_OPENAI = "tests/contract/test_retries.py::test_client_waits_and_asks_again[by_openai]"
pytestmark = pytest.mark.model


def by_openai(url: str, secret: str, text: str, max_tokens: int) -> Any:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=secret, max_retries=3) as client:
        return client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": text}],
            max_tokens=max_tokens,
            stop=STOP,
        )


def by_anthropic(url: str, secret: str, text: str, max_tokens: int) -> Any:
    with anthropic.Anthropic(base_url=url, api_key=secret, max_retries=3) as client:
        return client.messages.create(
            model=MODEL,
            messages=[{"role": "user", "content": text}],
            max_tokens=max_tokens,
            stop_sequences=STOP,
        )


def by_langchain(url: str, secret: str, text: str, max_tokens: int) -> Any:
    chain = ChatOpenAI(
        base_url=f"{url}/v1",
        api_key=SecretStr(secret),
        model=MODEL,
        max_retries=3,
        max_completion_tokens=max_tokens,
    )
    return chain.invoke(text, stop=STOP)


@pytest.mark.parametrize(
    "ask",
    [
        by_openai,
        by_anthropic,
        # OpenAI's client asks for it.
        pytest.param(by_langchain, marks=pytest.mark.nightly(beside=BY_OPENAI)),
    ],
)
def test_client_waits_and_asks_again(
    product: Product,
    developer: Person,
    limited_key: LimitedKey,
    ask: Callable[[str, str, str, int], Any],
) -> None:
    before = limited_key.refused()
    assert ask(product.url, limited_key.secret, LONG, 4)
    # So many that nothing else may have been used in this minute.
    assert ask(product.url, limited_key.secret, "Say hello.", limited_key.tokens_per_minute)
    deadline = time.monotonic() + 10
    while limited_key.refused() == before:
        assert time.monotonic() < deadline, "it was never refused, so nothing was asked again"
        time.sleep(0.1)
