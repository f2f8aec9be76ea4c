"""What the document of a chat names before its scripts run."""

import re
from uuid import uuid4

import httpx
import pytest
from django.conf import settings

PRELOAD = re.compile(r'<link rel="modulepreload" crossorigin href="([^"]+)">')


def document(product, path: str, *, signed_in: bool = True, language: str = "en") -> str:
    return httpx.get(
        f"{product.url}{path}",
        headers={"Accept-Language": language},
        cookies={settings.SESSION_COOKIE_NAME: "some"} if signed_in else {},
    ).text


def parts(document: str) -> set[str]:
    return {one.rpartition("/")[2].split("-")[0] for one in PRELOAD.findall(document)}


def test_document_of_a_conversation_names_what_shows_it(product) -> None:
    named = document(product, f"/c/{uuid4()}", language="de")
    assert {"page", "chat", "answers", "de"} <= parts(named)
    assert named.index("first-requests.js") < named.index("</head>")
    scripts = PRELOAD.findall(named)
    assert len(scripts) == len(set(scripts))
    for script in scripts:
        answer = httpx.get(product.url + script)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("text/javascript")


def test_document_of_a_new_chat_names_no_parser_of_answers(product) -> None:
    for path in ("/", f"/a/{uuid4()}"):
        assert "chat" in parts(document(product, path))
        assert "answers" not in parts(document(product, path))


@pytest.mark.parametrize(
    ("path", "signed_in"),
    [("/", False), (f"/c/{uuid4()}", False), ("/login", True), ("/settings", True)],
)
def test_other_documents_name_nothing_of_a_chat(product, path: str, signed_in: bool) -> None:
    named = document(product, path, signed_in=signed_in)
    assert "chat" not in parts(named)
    assert "first-requests.js" not in named


def test_document_repeats_nothing_of_the_address(product) -> None:
    named = document(product, "/c/%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert "alert(1)" not in named
