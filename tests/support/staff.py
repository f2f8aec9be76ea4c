"""A member of the staff at the admin of a running product, over HTTP like a browser."""

import re
import secrets
import uuid
from typing import Any

import httpx
from django.contrib.auth.hashers import make_password

from safety.taxonomy import Category
from tests.support.product import Product
from tests.support.second_factor import code_of


class Staff(httpx.Client):
    """A superuser of `product`, signed in to its admin with a new authenticator app."""

    def __init__(self, product: Product) -> None:
        super().__init__(base_url=product.url, timeout=120)
        self.email = f"staff-{secrets.token_hex(4)}@example.org"
        self.password = secrets.token_urlsafe(16)
        product.rows(
            "INSERT INTO accounts_user (id, email, name, password, is_active, is_staff,"
            " is_superuser, date_joined) VALUES (%s, %s, 'Staff', %s, true, true, true, now())"
            " RETURNING id",
            [uuid.uuid4(), self.email, make_password(self.password)],
        )
        answer = self.submit("/admin/login/", username=self.email, password=self.password)
        assert answer.status_code == 302, answer.text[:2000]
        enrolment = self.get("/admin/second-factor/").text
        found = re.search(r'id="totp-secret">([A-Z2-7]+)<', enrolment)
        assert found is not None, enrolment[:2000]
        self.totp_secret = found[1]
        answer = self.submit("/admin/second-factor/", code=code_of(self.totp_secret))
        assert "Recovery codes" in answer.text, answer.text[:2000]

    def new_code(self) -> str:
        """A code of the app that was not used yet."""
        return code_of(self.totp_secret, periods=1)

    def submit(self, path: str, **fields: Any) -> httpx.Response:
        """Send the form at `path` with `fields`. Any page has the token that it needs: the first
        form is opened, and to render the others tells nothing."""
        if "csrftoken" not in self.cookies:
            self.get(path)
        token = self.cookies["csrftoken"]
        origin = {"Referer": f"{self.base_url}{path}"}
        return self.post(path, data={"csrfmiddlewaretoken": token, **fields}, headers=origin)

    def save_policy(self, organization_id: str, **fields: Any) -> None:
        """A new version of the organization's policy, by the admin's form."""
        answer = self.submit(
            "/admin/audit/safetypolicy/add/",
            **{
                "organization": organization_id,
                "model": "",
                "is_active": "on",
                "preset": "standard",
                **fields,
            },
        )
        assert answer.status_code == 302, answer.text[:4000]

    def save_action(self, organization_id: str, action: str, *categories: Category) -> None:
        """A new version that does `action` about `categories`, all of them where none is named."""
        chosen = {f"action_{category}": action for category in categories or Category}
        self.save_policy(organization_id, **chosen)
