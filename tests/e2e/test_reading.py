"""Formulas, diagrams, footnotes and wide code in an answer, and what hostile ones do not do."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.images import keep_image
from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.users import Person, SignUp, Visitor, until
from tests.support.scripted import ScriptedProduct

LONG_LINE = "one " + "and another one " * 12
ANSWER = r"""The roots of $ax^2 + bx + c$ cost \(\Delta\), and $5 or $10 stay money[^1].

\[
x
= \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
\]

| $n$ | $2^n$ |
|-----|-------|
| $1$ | $2$   |

$$\sum_{n=0}^{\infty} \frac{f^{(n)}(a)}{n!} (x-a)^n = f(a) + f'(a)(x-a) + \cdots +
\frac{f''(a)}{2}(x-a)^2 + R_{n}(x) + \text{all that is left of it}$$

```mermaid
flowchart TD
  accTitle: Signing in
  A[Person] -->|asks| B(Parley)
  B --> C{Known?}
  C -->|yes| D[Answer]
  C -->|no| A
```

```python
LONG = {LONG_LINE!r}
```

שלום $x^2$ עולם

Broken: $\frac{1$.

[^1]: As in **every** price list.
""".replace("{LONG_LINE!r}", repr(LONG_LINE))

LOOSE = (
    '%%{init: {"securityLevel": "loose", "htmlLabels": true,'
    ' "flowchart": {"htmlLabels": true}}}%%\n'
)
STYLED = (
    '%%{init: {"themeCSS": "@import url(https://evil.example/x.css);'
    ' * {background: url(https://evil.example/y.png)}"}}%%\n'
)
HOSTILE_DIAGRAMS = [
    'flowchart TD\n  A["<img src=x onerror=alert(1)>"] --> B["<script>alert(2)</script>"]',
    'flowchart TD\n  A --> B\n  click A "javascript:alert(3)"\n  click B call alert(4)',
    'flowchart TD\n  A --> B\n  click A "https://evil.example/" _blank',
    f"{LOOSE}flowchart TD\n  A[\"<iframe src='https://evil.example/'></iframe>\"]",
    f"{STYLED}flowchart TD\n  A --> B",
    "flowchart TD\n  A --> B\n  style A fill:url(https://evil.example/z.svg)",
    'flowchart TD\n  A@{ img: "https://evil.example/pixel.png", label: "x", w: 60, h: 60 }',
    'sequenceDiagram\n  participant A\n  links A: {"x": "javascript:alert(5)"}\n'
    "  A->>A: <svg onload=alert(6)>",
]


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def press_until(answer: Locator, button: str, shown: Locator) -> None:
    """A row of messages that is measured anew is made anew, and has forgotten what was pressed."""
    for _ in range(5):
        answer.get_by_role("button", name=button).first.click()
        with suppress(AssertionError):
            expect(shown).to_be_visible(timeout=3_000)
            return
    expect(shown).to_be_visible()


def test_answer_is_typeset_and_drawn_when_it_is_whole_and_hostile_diagrams_do_nothing(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up(**PHONE, color_scheme="dark")
    page = person.page
    person.open(f"/c/{insert_branch(scripted_product, person, 'Everything', ['Show me', ANSWER])}")
    answer = person.answer
    expect(answer.locator(".formula")).to_have_count(9)
    expect(answer.locator(".formula math")).to_have_count(9)
    expect(answer.get_by_text("and $5 or $10 stay money")).to_be_visible()
    expect(answer.get_by_text(r"$\frac{1$")).to_be_visible()
    expect(answer.locator("[dir=rtl]")).to_contain_text("שלום")
    drawn = answer.get_by_role("img", name="Signing in")
    expect(drawn).to_be_visible()
    assert drawn.evaluate("async (image) => (await image.decode(), image.naturalWidth > 100)")
    fonts = page.evaluate(
        """async () => {
          const fonts = [...(await document.fonts.ready)];
          return fonts.filter((f) => f.status === 'loaded').map((f) => f.family);
        }"""
    )
    assert any("KaTeX" in font for font in fonts), fonts
    assert_accessible(page, "formulas and a diagram")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.evaluate("screen.width"), "the answer is wider than the screen"
    answer.evaluate("(element) => element.scrollIntoView()")
    keep_image(page, "reading-top")
    answer.get_by_text("As in every price list").scroll_into_view_if_needed()
    keep_image(page, "reading-end")
    code = answer.locator("pre")
    expect(code).to_have_count(1)
    wide = code.evaluate("(element) => element.scrollWidth - element.clientWidth")
    assert wide > 0
    answer.get_by_role("button", name="Wrap lines").click()
    expect(code).to_have_js_property("scrollWidth", code.evaluate("({clientWidth}) => clientWidth"))
    press_until(answer, "Show source", answer.get_by_text("accTitle: Signing in"))
    press_until(answer, "Show diagram", drawn)
    answer.get_by_role("link", name="Footnote 1").click()
    expect(answer.get_by_text("As in every price list")).to_be_in_viewport()
    answer.get_by_role("link", name="Back to reference 1").click()
    expect(answer.get_by_role("link", name="Footnote 1")).to_be_focused()
    formula_and_diagram_stay_text_while_they_are_written(person, scripted_product)
    hostile_diagrams_run_and_load_nothing(person, scripted_product)


def formula_and_diagram_stay_text_while_they_are_written(
    person: Person, product: ScriptedProduct
) -> None:
    """A formula whose end has not come is shown as it is written, and a fence that is open as
    code."""
    page = person.page
    send = page.get_by_role("button", name="Send", exact=True)
    person.go("/")
    body = " ".join(f"*a_{number}* +" for number in range(30))
    product.says(rf"Sum: \[ {body} 0 \] done.", rate=20)
    person.composer.fill("Add")
    send.click()
    page.get_by_text(r"Sum: \[ *a_0* + *a_1* + *a_2*").wait_for()
    expect(person.answer.locator("em")).to_have_count(0)
    product.hurries()
    expect(person.answer.locator(".formula math")).to_have_count(1)
    person.wait_for_the_end()

    edges = " ".join(f"N{number}-->N{number + 1}\n" for number in range(12))
    # So long that the fence is open for as long as it is looked at.
    remarks = "%% more to come\n" * 30
    product.says(f"```mermaid\nflowchart LR\n {edges}{remarks}```\n", rate=2)
    person.composer.fill("Draw")
    send.click()
    expect(person.answer.locator("pre")).to_contain_text("N1-->N2")
    assert person.answer.locator("img").count() == 0
    product.hurries()
    expect(person.answer.get_by_role("img", name="Diagram (flowchart)")).to_be_visible()
    person.wait_for_the_end()


def hostile_diagrams_run_and_load_nothing(person: Person, product: ScriptedProduct) -> None:
    """Dialogs, requests to other origins and errors fail the test at its end. What is drawn is
    an image, whatever it holds; what is not drawn is shown as it is written."""
    page = person.page
    person.visitor.expect_refusals()  # by the frame's own policy
    texts = ["Draw"]
    fences = [f"```mermaid\n{source}\n```" for source in HOSTILE_DIAGRAMS]
    texts.append("\n\n".join([*fences, "```mermaid\nno such diagram\n```"]))
    person.go(f"/c/{insert_branch(product, person, 'Hostile', texts)}")
    answer = person.answer
    failed = answer.get_by_text("This diagram cannot be drawn.")
    expect(failed.first).to_be_visible()
    drawn = answer.locator("img")
    until(
        page,
        "(count) => document.querySelectorAll('article img').length"
        " + [...document.querySelectorAll('article p[role=status]')].length === count",
        arg=len(HOSTILE_DIAGRAMS) + 1,
    )
    assert drawn.count() >= 3
    markup = answer.locator(".answer").locator(
        "script, iframe, foreignObject, object, a[href], style"
    )
    expect(markup).to_have_count(0)
    for source in drawn.evaluate_all("(images) => images.map(({src}) => src)"):
        assert source.startswith("data:image/svg+xml;charset=utf-8,")
    frame_reaches_neither_the_page_nor_the_network(page)


def frame_reaches_neither_the_page_nor_the_network(page: Page) -> None:
    """What a source that got the better of Mermaid could do: nothing."""
    tried = page.evaluate(
        """async () => {
          const frame = document.createElement('iframe');
          frame.src = '/frames/diagram';
          document.body.append(frame);
          await new Promise((done) => { frame.onload = done; });
          try { return frame.contentDocument?.body ? 'reached' : 'opaque'; }
          catch { return 'opaque'; }
        }"""
    )
    assert tried == "opaque", "without the attribute too, by the policy of the frame itself"
    *_, frame = (one for one in page.frames if one.url.endswith("/frames/diagram"))
    for attempt in ("parent.document.title", "document.cookie", "localStorage.length"):
        refused = frame.evaluate(
            f"() => {{ try {{ return {attempt}; }} catch {{ return null; }} }}"
        )
        assert refused is None, attempt
    fetched = "() => fetch('/api/me').then(() => 'fetched', () => 'refused')"
    assert frame.evaluate(fetched) == "refused"
