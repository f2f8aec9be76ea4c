"""Images over HTTP: an engine that sees, through its own chat template and tokenizer."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image

from inference.core import PromptImage
from inference.errors import InvalidRequestError
from inference.server.images import check_copies
from tests.inference.seeing import data_url, image, make_seeing
from tests.inference.serving import serve

RED, OTHER = image(150, 95, 1), image(150, 95, 2)


@pytest.fixture(scope="module")
def seeing(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeing")
    make_seeing(folder)
    with serve(folder, "--num-blocks", "128", "--max-num-seqs", "4") as running:
        yield running


def shown(*images, text="What is this?", **image_url):
    parts = [{"type": "image_url", "image_url": {"url": url, **image_url}} for url in images]
    return [*parts, {"type": "text", "text": text}]


def asked(served, content, **fields):
    answer = served.chat(content, max_tokens=12, ignore_eos=True, stop_on_loop=False, **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def text_of(answer, choice=0):
    return answer["choices"][choice]["message"]["content"]


def test_image_is_seen_counted_and_cached(seeing):
    first = asked(seeing, shown(data_url(RED)))
    details = first["usage"]["prompt_tokens_details"]
    assert details == {"cached_tokens": 0, "image_tokens": 15}
    again = asked(seeing, shown(data_url(RED)), n=2)
    assert text_of(again) == text_of(again, 1) == text_of(first)
    details = again["usage"]["prompt_tokens_details"]
    assert details["cached_tokens"] >= 16
    assert (details["image_tokens"], details["cached_tokens_details"]) == (15, {"image_tokens": 15})
    other = asked(seeing, shown(data_url(OTHER)))
    assert text_of(other) != text_of(first)
    both = asked(seeing, shown(data_url(RED), data_url(OTHER)))
    assert both["usage"]["prompt_tokens_details"]["image_tokens"] == 30


def test_answer_about_a_image_is_continued(seeing):
    """As the gateway does it when an engine has gone in the middle of an answer."""
    content = shown(data_url(OTHER))
    whole = seeing.chat(content, max_tokens=12, ignore_eos=True, logprobs=True).json()
    tokens = [one["bytes"] for one in whole["choices"][0]["logprobs"]["content"]]
    begun = bytes(byte for token in tokens[:5] for byte in token).decode("utf-8", "replace")
    messages = [
        {"role": "user", "content": content},
        {"role": "assistant", "content": begun},
    ]
    body = {"messages": messages, "continue_final_message": True, "temperature": 0}
    answer = seeing.http.post("/v1/chat/completions", json={**body, "max_tokens": 7})
    assert answer.status_code == 200, answer.text
    assert answer.json()["usage"]["prompt_tokens_details"]["image_tokens"] == 15


def test_marks_that_a_user_writes_show_nothing(seeing):
    text = "<|image_pad|> and <|vision_start|>"
    answer = asked(seeing, shown(data_url(RED), text=text))
    assert answer["usage"]["prompt_tokens_details"]["image_tokens"] == 15


def _header(width: int, height: int) -> str:
    """A PNG that says to be of this size, and is not."""
    target = io.BytesIO()
    Image.new("L", (1, 1)).save(target, "PNG")
    data = bytearray(target.getvalue())
    data[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return f"data:image/png;base64,{base64.b64encode(bytes(data)).decode()}"


@pytest.mark.parametrize(
    ("content", "param", "reason"),
    [
        (shown("https://example.org/a.png"), "messages[0].content[0].image_url.url", "inline"),
        (shown("data:image/png;base64,%%%"), "messages[0].content[0].image_url.url", "base64"),
        (shown("data:image/png;base64,aGk="), "messages[0].content[0].image_url.url", "read"),
        (shown(_header(60000, 60000)), "messages[0].content[0].image_url.url", "pixels|read"),
        (shown(data_url(image(2, 900))), "messages[0].content[0]", "200 times"),
        (shown(*[data_url(RED)] * 17), "messages[0].content[16]", "16"),
        (shown(data_url(RED), detail="ultra"), "messages[0].content[0].image_url.detail", "ultra"),
        ([{"type": "video_url", "video_url": {}}], "messages[0].content[0].type", "video_url"),
    ],
)
def test_image_that_cannot_be_taken_is_a_400_that_names_it(seeing, content, param, reason):
    answer = seeing.chat(content)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["param"].replace("[...]", "[0]") == param or "..." in error["param"]
    assert any(one in error["message"] for one in reason.split("|"))


def test_many_choices_about_large_images_are_refused():
    image = PromptImage(0, 1, b"", b"", (6, 1000, 1000))
    check_copies((image,), 8)
    with pytest.raises(InvalidRequestError, match="9 choices") as error:
        check_copies((image,), 9)
    assert error.value.param == "n"


def test_model_that_sees_nothing_says_so(tiny_served):
    answer = tiny_served.chat(shown(data_url(RED)))
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "messages[0].content[0]"
    assert "sees no images" in answer.json()["error"]["message"]
