"""What messages look like: markdown, hostile text, and very many of them."""

import time

from playwright.sync_api import expect

from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.users import SignUp, copied
from tests.support.product import Product

MARKDOWN = """## A heading

Some **bold** words and a [link](https://example.org/page).

| Name | Age |
|------|-----|
| Ada  | 36  |

```python
def greet(name: str) -> str:
    return f"Hello {name}"
```
"""

HOSTILE = """<script>alert(1)</script><img src=x onerror=alert(2)>
<svg onload=alert(3)></svg><iframe src="https://evil.example/"></iframe>

![pixel](https://evil.example/pixel.png) [click](javascript:alert(4))
[here](data:text/html,<script>alert(5)</script>) <style>body{display:none}</style>

<form action="https://evil.example/"><input name="password"></form>
"""


def test_hostile_markup_is_shown_as_text_and_markdown_as_what_it_means(
    sign_up: SignUp, live_product: Product
) -> None:
    """Dialogs, requests to other origins and CSP violations fail the test at its end."""
    person = sign_up()
    texts = [HOSTILE, HOSTILE, "Go on", MARKDOWN]
    person.open(f"/c/{insert_branch(live_product, person, HOSTILE[:80], texts)}")
    hostile = person.page.get_by_role("article", name="Parley").first
    expect(hostile.get_by_text("<script>alert(1)</script>")).to_be_visible()
    markup = hostile.locator(".answer").locator("script, img, svg, iframe, style, form, input")
    expect(markup).to_have_count(0)
    for word in ("click", "here"):
        expect(hostile.get_by_role("link", name=word)).to_have_count(0)
    expect(person.conversations.first).to_contain_text("<script>")

    answer = person.answer
    expect(answer.get_by_role("heading", name="A heading")).to_be_visible()
    expect(answer.get_by_role("cell", name="36")).to_be_visible()
    link = answer.get_by_role("link", name="link")
    expect(link).to_have_attribute("href", "https://example.org/page")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(answer.locator("pre .token").first).to_be_visible()
    text = copied(person.page, answer.get_by_role("button", name="Copy code"))
    assert text == 'def greet(name: str) -> str:\n    return f"Hello {name}"'
    colours = answer.locator("pre .token").evaluate_all(
        "(tokens) => [...new Set(tokens.map((token) => getComputedStyle(token).color))]"
    )
    assert len(colours) > 2, "the code is not coloured"


def test_hundreds_of_messages_are_scrolled_to_the_first(
    sign_up: SignUp, live_product: Product
) -> None:
    person = sign_up()
    texts = [f"Message number {index}. " + "word " * (index % 40) for index in range(400)]
    person.open(f"/c/{insert_branch(live_product, person, 'Long', texts)}")
    articles = person.page.get_by_role("article")
    expect(person.answer).to_contain_text("Message number 399.")
    expect(person.answer).to_be_in_viewport()

    messages = person.page.get_by_role("region", name="Messages")
    seen: set[int] = set()
    until = time.monotonic() + 60
    while min(seen, default=399) >= 300:  # older ones come when they are near
        assert time.monotonic() < until, f"none is older than {min(seen)}"
        messages.evaluate("(element) => element.scrollBy(0, -2500)")
        person.page.wait_for_timeout(50)
        assert articles.count() < 60, "all messages are in the document, not only those in sight"
        numbers = messages.evaluate(
            "(element) => [...element.innerText.matchAll(/Message number (\\d+)/g)]"
            ".map((match) => Number(match[1]))"
        )
        assert numbers == sorted(numbers)
        seen.update(numbers)

    # To the top, again and again, until there is nothing above.
    first = person.page.get_by_text("Message number 0.")
    for _ in range(1_000):
        messages.evaluate("(element) => element.scrollTo(0, 0)")
        person.page.wait_for_timeout(30)
        if first.is_visible():
            break
    expect(first).to_be_visible()
    person.page.get_by_role("button", name="Scroll to the newest message").click()
    expect(person.page.get_by_text("Message number 399.")).to_be_in_viewport()
