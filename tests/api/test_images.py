"""Images are scored by the real model, where they are uploaded and at `/v1/moderations`.

What the model calls pornography is not in this repository: a policy that refuses from score 0
refuses a meadow, by the same way.
"""

import base64
import io
from collections.abc import Iterator

import httpx
import pytest
from PIL import Image

from safety.taxonomy import Category
from tests.api.users import Person, program, sign_up
from tests.support.scripted import ScriptedProduct
from tests.support.staff import Staff


def meadow(size: tuple[int, int] = (320, 240)) -> bytes:
    image = Image.new("RGB", size, (120, 170, 230))
    image.paste((70, 120, 60), (0, size[1] // 2, size[0], size[1]))
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


@pytest.fixture
def painter(scripted_product: ScriptedProduct) -> Iterator[Person]:
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def upload(person: Person) -> httpx.Response:
    return person.browser.post("/api/attachments", files={"file": ("meadow.png", meadow())})


def found(product: ScriptedProduct, person: Person) -> list[tuple[str, str, list[str]]]:
    rows = product.rows(
        "SELECT action, layer, categories, scores FROM audit_safetydecisionrecord"
        " WHERE organization_id = %s ORDER BY created_at",
        [person.organization_id],
    )
    assert all(0 <= row["scores"]["sexual_content"] < 0.5 for row in rows)
    return [(row["action"], row["layer"], row["categories"]) for row in rows]


def test_uploaded_image_is_scored_and_recorded(
    painter: Person, scripted_product: ScriptedProduct
) -> None:
    assert upload(painter).status_code == 201
    assert found(scripted_product, painter) == [("allow", "images", [])]


@pytest.mark.parametrize(("action", "status"), [("block", 400), ("flag", 201), ("review", 201)])
def test_policy_action_is_applied_to_an_uploaded_image(
    painter: Person,
    administrator: Staff,
    scripted_product: ScriptedProduct,
    action: str,
    status: int,
) -> None:
    administrator.save_policy(
        painter.organization_id,
        action_sexual_content=action,
        threshold_sexual_content="0",
    )
    answer = upload(painter)
    assert answer.status_code == status, answer.text
    if status == 400:
        assert answer.json()["error"]["code"] == "content_policy_violation"
        assert answer.json()["error"]["categories"] == [Category.SEXUAL_CONTENT]
        kept = scripted_product.rows(
            "SELECT 1 FROM conversations_attachment WHERE organization_id = %s",
            [painter.organization_id],
        )
        assert kept == []
    assert found(scripted_product, painter) == [(action, "images", ["sexual_content"])]


@pytest.fixture
def client(scripted_product: ScriptedProduct, painter: Person) -> Iterator[httpx.Client]:
    with program(scripted_product.url, painter.new_key()["secret"]) as client:
        yield client


def as_part(data: bytes) -> dict[str, object]:
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def test_moderations_score_an_image_beside_its_text(client: httpx.Client) -> None:
    body = {"input": [{"type": "text", "text": "What a meadow!"}, as_part(meadow())]}
    answer = client.post("/v1/moderations", json=body)
    assert answer.status_code == 200, answer.text
    [result] = answer.json()["results"]
    assert result["category_applied_input_types"]["sexual"] == ["text", "image"]
    assert result["category_applied_input_types"]["hate"] == ["text"]
    assert 0 < result["category_scores"]["sexual"] < 0.5

    alone = client.post("/v1/moderations", json={"input": [as_part(meadow())]}).json()
    assert alone["results"][0]["category_applied_input_types"]["hate"] == []


def bomb() -> bytes:
    """A PNG of a few kilobytes that says it has 400 million pixels."""
    data = bytearray(meadow((16, 16)))
    data[16:24] = (20_000).to_bytes(4, "big") * 2
    return bytes(data)


@pytest.mark.parametrize("data", [b"no image", meadow()[:200], bomb()], ids=["text", "cut", "bomb"])
def test_moderation_is_400_when_image_is_unreadable(client: httpx.Client, data: bytes) -> None:
    answer = client.post("/v1/moderations", json={"input": [as_part(data)]})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == "input"
