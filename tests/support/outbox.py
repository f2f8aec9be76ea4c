"""The mails that a product of the tests has written, as its operator reads them."""

import html
import re
import time

import httpx

from tests.support.product import OUTBOX_TOKEN

_ARTICLE = re.compile(r"<article>(.*?)</article>", re.DOTALL)
_LINK = re.compile(r'href="(https?://[^"]+)"')


def mails_to(url: str, email: str) -> list[str]:
    """What was mailed to one address, newest first: each as the HTML of the page."""
    answer = httpx.get(f"{url}/outbox", params={"token": OUTBOX_TOKEN, "to": email}, timeout=60)
    assert answer.status_code == 200, answer.text
    return _ARTICLE.findall(answer.text)


def newest_mail(url: str, email: str, containing: str = "") -> str:
    """Waits for it, ten seconds at most."""
    deadline = time.monotonic() + 10
    while True:
        for mail in mails_to(url, email):
            if containing in mail:
                return mail
        assert time.monotonic() < deadline, f"no mail to {email} with {containing!r}"
        time.sleep(0.1)


def link_in(mail: str) -> str:
    """The path and fragment of the mail's first link."""
    found = _LINK.search(mail)
    assert found is not None, mail
    return "/" + html.unescape(found[1]).split("/", 3)[3]


def token_mailed(url: str, email: str, page: str) -> str:
    """The token of the newest link to `page` that was mailed to one address."""
    mail = newest_mail(url, email, containing=f"/{page}#")
    return link_in(mail).partition("#")[2]
