"""The code in the staff's pages, and of which of them a browser opens: no other has any more.

That none has: test_pages.py, which reads every page. That it runs without `unsafe-eval` and
violates no policy: tests/e2e/test_admin.py, which opens these.
"""

import re

LISTS = ("accounts_apikey",)
ROWS = ("accounts_apikey", "accounts_organization", "accounts_user", "auth_group")
# What a policy may refuse: scripts and styles, the attributes that hold code, Alpine's among them.
_CODE = re.compile(
    r"""<script[^>]*>|<style[^>]*>|\s(?:on\w+|style|x-[\w:.-]+|@[\w.-]+|:[\w-]+)="[^"]*\""""
)


def code_of(html: str) -> set[str]:
    """The code in a page, ids and numbers alike."""
    return {re.sub(r"[0-9a-f-]{8,}|\d+", "0", found) for found in _CODE.findall(html)}
