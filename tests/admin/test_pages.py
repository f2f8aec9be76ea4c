"""Every page of the staff's site opens, for those who may."""

import json
import uuid

import pytest
from django.contrib import admin
from django.urls import reverse

from backend.accounts.models import User
from backend.generation.models import Generation
from backend.generation.pools.config import load_pools, use_rows
from tests.admin.page_code import LISTS, ROWS, code_of
from tests.conversations.message_trees import finished_turns
from tests.factories import MODEL, api_key_of, member

pytestmark = pytest.mark.django_db


def registered():
    """Models and how the site shows them, which it knows once its addresses are read."""
    reverse("admin:index")
    assert len(admin.site._registry) > 30
    return admin.site._registry.items()


def changelists():
    return [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model, _ in registered()
    ]


@pytest.fixture
def rows():
    from django.utils import timezone

    user = member()
    api_key_of(user)
    finished_turns(user, 2)
    return Generation.objects.create(
        organization_id=user.organization_id,
        project_id=user.project_id,
        user_id=user.user_id,
        request_id="req_1",
        endpoint="chat",
        model=MODEL,
        state="completed",
        input_tokens=1200,
        output_tokens=34,
        ttft_ms=210,
        deadline_at=timezone.now(),
        finished_at=timezone.now(),
    )


def test_superuser_opens_every_list_and_every_row(client, superuser, rows):
    """Under a policy without `unsafe-eval`, and with no code that the pages which a browser opens
    have not (page_code.py)."""
    opened, others = code_of(client.get("/admin/").content.decode()), {}

    def read(url):
        answer = client.get(url)
        assert answer.status_code == 200, url
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy and "unsafe-eval" not in policy
        return code_of(answer.content.decode())

    for model, _ in registered():
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        code = read(reverse(f"admin:{name}_changelist"))
        if name in LISTS:
            opened |= code
        else:
            others[name] = code
        row = model._default_manager.order_by("pk").first()
        if row is not None:
            url = reverse(f"admin:{name}_change", args=[row.pk])
            if name in ROWS:
                opened |= read(url)
            else:
                others[url] = read(url)
    assert {page: code - opened for page, code in others.items() if code - opened} == {}


def test_lists_are_searched(client, superuser, rows):
    for model, shown in registered():
        if shown.search_fields:
            name = f"{model._meta.app_label}_{model._meta.model_name}"
            answer = client.get(reverse(f"admin:{name}_changelist"), {"q": "req_1"})
            assert answer.status_code == 200, name


def test_side_bar_links_to_every_page(client, superuser):
    page = client.get("/admin/").content.decode()
    for url in [
        *changelists(),
        *map(reverse, ("admin:generation_pools", "admin:generation_models")),
    ]:
        assert f'href="{url}"' in page


def test_overview_counts_the_last_day(client, superuser, rows):
    page = client.get("/admin/").content.decode()

    assert "1,234" in page  # tokens
    assert "1,200 in, 34 out" in page
    assert "210 ms" in page
    assert "in 1 of 1 organizations" in page


def test_pools_page_shows_every_configured_replica(client, superuser):
    page = client.get(reverse("admin:generation_pools")).content.decode()

    assert MODEL in page
    assert "not known" in page  # nobody probes in this test


def test_generations_are_filtered_by_state_model_and_organization(client, superuser, rows):
    url = reverse("admin:generation_generation_changelist")
    change = reverse("admin:generation_generation_change", args=[rows.pk])
    other = member()
    for query, expected in [
        ({"state__exact": "completed"}, True),
        ({"state__exact": "failed"}, False),
        ({"model": MODEL}, True),
        ({"organization__id__exact": rows.organization_id}, True),
        ({"organization__id__exact": other.organization_id}, False),
    ]:
        assert (change in client.get(url, query).content.decode()) is expected, query


def test_users_who_are_not_staff_are_refused(client):
    from tests.factories import UserFactory

    client.force_login(UserFactory.create())
    for url in [
        "/admin/",
        *changelists(),
        *map(reverse, ("admin:generation_pools", "admin:generation_models")),
    ]:
        assert client.get(url).status_code == 302, url


def test_generations_cannot_be_changed_added_or_deleted(client, superuser, rows):
    change = reverse("admin:generation_generation_change", args=[rows.pk])
    assert client.post(change, {"state": "failed"}).status_code == 403
    assert client.post(reverse("admin:generation_generation_add"), {}).status_code == 403
    delete = reverse("admin:generation_generation_delete", args=[rows.pk])
    assert client.post(delete, {"post": "yes"}).status_code == 403
    assert Generation.objects.get().state == "completed"


def test_generation_shows_where_its_time_went(client, superuser, rows):
    change = reverse("admin:generation_generation_change", args=[rows.pk])
    assert "Where the time went" in client.get(change).content.decode()
    Generation.objects.update(stations={"decode": 75.0, "queue": 25.0})
    page = client.get(change).content.decode()
    assert 'aria-label="queue 25 ms, decode 75 ms"' in page
    assert 'x="150.0" y="0" width="450.0"' in page


def test_generation_is_found_by_its_ids_request_id_and_user(client, superuser, rows):
    url = reverse("admin:generation_generation_changelist")
    change = reverse("admin:generation_generation_change", args=[rows.pk])
    email = User.objects.get(pk=rows.user_id).email
    for term in (str(rows.pk), rows.pk.hex, "req_1", email.upper()):
        assert change in client.get(url, {"q": term}).content.decode(), term
    for term in ("req_2", "nobody@example.org", str(uuid.uuid4()), "1%"):
        assert change not in client.get(url, {"q": term}).content.decode(), term


POOL_DEFINITION = {
    "id": "large",
    "context_window": 100,
    "max_output_tokens": 50,
    "price_per_1k": {"input": "0.1", "cached_input": "0.05", "output": "0.2"},
}


@pytest.fixture
def no_pool_rows_afterwards():
    yield
    use_rows(())


def test_staff_add_a_model_and_hear_what_is_wrong(client, superuser, no_pool_rows_afterwards):
    url = reverse("admin:generation_pool_add")
    first = load_pools().models[0].id
    assert first in client.get(url, {"model_id": first}).content.decode()
    form = {"model_id": "large", "is_enabled": "on", "position": "0"}
    form["definition"] = '{"id": "large"}'
    assert "context_window" in client.post(url, form).content.decode()
    form["definition"] = json.dumps(POOL_DEFINITION)
    assert client.post(url, form).status_code == 302
    assert load_pools().models[0].id == "large"
