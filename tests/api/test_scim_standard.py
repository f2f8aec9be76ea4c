"""scim2-tester, which nobody here wrote, finds no fault in the directory's endpoint."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest
from django.core.wsgi import get_wsgi_application
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server, filling

from backend.enterprise.directory_tokens import directory_token_create
from tests.api.organizations import owner_with_domain

pytestmark = pytest.mark.usefixtures("transactional_db")


def test_tester_finds_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    owner, domain = owner_with_domain()
    token = directory_token_create(principal=owner)
    chosen = filling.get_random_example_value

    def of_the_domain(path: Any) -> Any:
        """Names and addresses as this endpoint wants them; the schema cannot say that."""
        binding = path.resolve()
        model = binding.target_model.__name__.lower() if binding else ""
        name = binding.target_field_name if binding else ""
        if name == "user_name" or (name == "value" and "email" in model):
            return f"{uuid4().hex}@{domain}"
        return chosen(path)

    monkeypatch.setattr(filling, "get_random_example_value", of_the_domain)
    with httpx2.Client(
        transport=httpx2.WSGITransport(app=get_wsgi_application()),
        base_url="http://127.0.0.1:8000/api/scim/v2",
        headers={"Authorization": f"Bearer {token}"},
    ) as client:
        results = check_server(SyncSCIMClient(client))
    found = [
        (one.status.name, one.title, one.reason)
        for one in results
        if one.status not in (Status.SUCCESS, Status.SKIPPED)
    ]
    assert found == [], "\n".join(map(str, found))
    assert len(results) > 90
