"""Images through every door of the product, to an engine that sees: a tiny model of random weights,
all else is real. What it says means nothing; how its prompts are counted and billed is shown."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.api.users import Person, sign_up
from tests.inference.seeing import data_url, image, make_seeing
from tests.inference.serving import MODEL_NAME, serve
from tests.support.pools import pools_beside
from tests.support.product import Product

pytestmark = pytest.mark.model
MODEL, TEXT = "seeing", "What is this?"
IMAGE_TOKENS = 15
"""Of an image of 150 by 95."""
PRICES = {"input": "1", "cached_input": "0.1", "output": "2", "image": "10"}


@pytest.fixture(scope="module")
def sees(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The product with a model that sees."""
    folder: Path = tmp_path_factory.mktemp("seeing")
    make_seeing(folder)
    with serve(folder, "--num-blocks", "128", "--max-num-seqs", "4") as engine:
        definition = {
            "id": MODEL,
            "context_window": 512,
            "max_output_tokens": 8,
            "capabilities": ["chat", "streaming", "vision"],
            "upstream_model": MODEL_NAME,
            "price_per_1k": PRICES,
            "replica": [{"name": "tiny", "url": engine.url}],
        }
        with pools_beside(product, [definition]):
            yield


@dataclass(frozen=True)
class Seer:
    """Somebody new, whose prompts no cache has."""

    person: Person
    client: openai.OpenAI
    claude: anthropic.Anthropic
    product: Product

    def billed(self) -> list[tuple[int, int, int, int]]:
        """Of each generation, in their order: input, cached, image and output tokens."""
        rows = self.product.rows(
            "SELECT input_tokens, cached_input_tokens, image_tokens, output_tokens"
            " FROM billing_usagerecord WHERE organization_id = %s ORDER BY occurred_at",
            [self.person.organization_id],
        )
        return [tuple(row.values()) for row in rows]


@pytest.fixture
def seer(product: Product, sees: None) -> Iterator[Seer]:
    person = sign_up(product.url)
    secret = str(person.new_key()["secret"])
    with (
        openai.OpenAI(base_url=f"{product.url}/v1", api_key=secret, max_retries=0) as client,
        anthropic.Anthropic(base_url=product.url, api_key=secret, max_retries=0) as claude,
    ):
        yield Seer(person, client, claude, product)
    person.browser.close()


def asked(seed: int, **image_url: Any) -> list[Any]:
    shown = {"url": data_url(image(150, 95, seed)), **image_url}
    parts = [{"type": "image_url", "image_url": shown}, {"type": "text", "text": TEXT}]
    return [{"role": "user", "content": parts}]


def test_chat_counts_image_tokens_and_bills_cached_ones_as_cached(seer):
    create = seer.client.chat.completions.create
    first = create(model=MODEL, messages=asked(1), max_tokens=4).usage
    assert first.prompt_tokens_details.cached_tokens == 0
    assert first.prompt_tokens_details.image_tokens == IMAGE_TOKENS
    options = {"include_usage": True}
    *_, last = create(
        model=MODEL, messages=asked(1), max_tokens=4, stream=True, stream_options=options
    )
    again = last.usage
    assert again.prompt_tokens == first.prompt_tokens
    cached = again.prompt_tokens_details.cached_tokens
    assert cached > IMAGE_TOKENS
    assert again.prompt_tokens_details.image_tokens is None
    assert seer.billed() == [
        (first.prompt_tokens, 0, IMAGE_TOKENS, first.completion_tokens),
        (first.prompt_tokens, cached, 0, again.completion_tokens),
    ]
    usage = seer.person.browser.get("/api/usage").json()
    assert usage["image_tokens"] == IMAGE_TOKENS
    output = first.completion_tokens + again.completion_tokens
    text = 2 * first.prompt_tokens - cached - IMAGE_TOKENS
    thousands = text + 10 * IMAGE_TOKENS + Decimal("0.1") * cached + 2 * output
    assert Decimal(usage["cost"]) == thousands / 1000
    assert seer.client.models.retrieve(MODEL).prices["image"] == "10"


def test_two_images_in_a_response_are_counted_and_another_is_not_taken_from_the_cache(seer):
    parts = [
        {"type": "input_image", "image_url": data_url(image(150, 95, seed)), "detail": "auto"}
        for seed in (3, 4)
    ]
    parts.append({"type": "input_text", "text": TEXT})
    answer = seer.client.responses.create(
        model=MODEL, input=[{"role": "user", "content": parts}], max_output_tokens=4
    )
    assert answer.usage.input_tokens_details.image_tokens == 2 * IMAGE_TOKENS
    *_, last = seer.client.responses.create(
        model=MODEL,
        input=[{"role": "user", "content": [parts[0], parts[2]]}],
        max_output_tokens=4,
        stream=True,
    )
    details = last.response.usage.input_tokens_details
    # The blocks of the first image are known, and the last of them holds of the second image.
    assert details.cached_tokens + details.image_tokens >= IMAGE_TOKENS
    assert [row[2] for row in seer.billed()] == [2 * IMAGE_TOKENS, details.image_tokens]


def test_message_counts_images_as_input(seer):
    _, _, data = data_url(image(150, 95, 5)).partition(",")
    source = {"type": "base64", "media_type": "image/png", "data": data}
    parts = [{"type": "image", "source": source}, {"type": "text", "text": TEXT}]
    for cached in (False, True):
        usage = seer.claude.messages.create(
            model=MODEL, max_tokens=4, messages=[{"role": "user", "content": parts}]
        ).usage
        tokens, from_cache, images, _ = seer.billed()[-1]
        assert (usage.input_tokens, usage.cache_read_input_tokens) == (
            tokens - from_cache,
            from_cache,
        )
        assert images == (0 if cached else IMAGE_TOKENS)


def test_uploaded_image_of_a_turn_is_counted(seer, tmp_path):
    image(150, 95, 6).save(tmp_path / "shown.png")
    with (tmp_path / "shown.png").open("rb") as file:
        upload = seer.person.browser.post("/api/attachments", files={"file": file})
    assert upload.status_code == 201, upload.text
    conversation = seer.person.new_conversation()
    content = [
        {"type": "image", "attachment_id": upload.json()["id"]},
        {"type": "text", "text": TEXT},
    ]
    body = {"content": content, "model": MODEL}
    with seer.person.browser.stream(
        "POST", f"/api/conversations/{conversation}/messages", json=body
    ) as answer:
        assert answer.status_code == 200, answer.read()
        assert list(answer.iter_lines())
    # The conversation's title may have been made since, from its text.
    (_, _, images, _), *_ = seer.billed()
    assert images == IMAGE_TOKENS
