"""OpenAI's own client administers an organization: people, invitations, projects, keys, limits."""

import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.api.users import Person, program, sign_up
from tests.support.outbox import newest_mail
from tests.support.product import Product


@pytest.fixture(scope="module")
def admin(product: Product, developer: Person) -> Iterator[openai.OpenAI]:
    secret = developer.new_key(scopes=["administration", "audit", "usage"])["secret"]
    with openai.OpenAI(
        base_url=f"{product.url}/v1", admin_api_key=secret, api_key="none", max_retries=0
    ) as made:
        yield made


def test_people_and_invitations(product: Product, admin: openai.OpenAI, developer: Person) -> None:
    organization = admin.admin.organization
    (owner,) = organization.users.list(emails=[developer.email])
    assert (owner.email, owner.role, owner.object) == (
        developer.email,
        "owner",
        "organization.user",
    )
    assert organization.users.retrieve(owner.id).added_at == owner.added_at
    with pytest.raises(openai.ConflictError):  # an organization needs an owner
        organization.users.update(owner.id, role="reader")

    made = [
        organization.invites.create(email=f"new{n}@example.org", role="reader") for n in range(3)
    ]
    assert "/join#" in newest_mail(product.url, "new2@example.org")
    assert {(each.status, each.role) for each in made} == {("pending", "reader")}
    listed = [each.id for each in organization.invites.list(limit=2)]  # two pages
    assert listed == [each.id for each in reversed(made)]
    assert organization.invites.delete(made[0].id).deleted
    assert organization.invites.retrieve(made[0].id).status == "expired"


def test_projects_with_people_service_accounts_keys_and_limits(
    product: Product, admin: openai.OpenAI, developer: Person
) -> None:
    projects = admin.admin.organization.projects
    project = projects.create(name="Search")
    assert projects.update(project.id, name="Finding").name == "Finding"
    assert "Finding" in [each.name for each in projects.list(limit=1)]  # page by page

    user = developer.me["user"]["id"]
    assert projects.users.create(project.id, user_id=user, role="member").role == "member"
    assert projects.users.update(user, project_id=project.id, role="owner").role == "owner"
    assert [each.id for each in projects.users.list(project.id)] == [user]
    assert projects.users.delete(user, project_id=project.id).deleted

    account = projects.service_accounts.create(project.id, name="Crawler")
    assert account.api_key is not None
    with program(product.url, account.api_key.value) as client:
        assert client.get("/v1/models").status_code == 200
        assert client.get("/v1/organization/users").status_code == 403
    (key,) = projects.api_keys.list(project.id)
    assert key.owner.service_account is not None
    assert key.owner.service_account.name == "Crawler"
    assert projects.api_keys.retrieve(key.id, project_id=project.id).name == key.name

    limits = {each.model: each for each in projects.rate_limits.list_rate_limits(project.id)}
    changed = projects.rate_limits.update_rate_limit(
        limits["smollm2-135m"].id, project_id=project.id, max_requests_per_1_minute=1
    )
    assert changed.max_requests_per_1_minute == 1
    assert changed.max_tokens_per_1_minute == limits["smollm2-135m"].max_tokens_per_1_minute

    assert projects.service_accounts.delete(account.id, project_id=project.id).deleted
    archived = projects.archive(project.id)
    assert archived.status == "archived"
    with program(product.url, account.api_key.value) as client:
        assert client.get("/v1/models").status_code == 401


def test_admin_keys_and_what_other_keys_may_not(
    product: Product, admin: openai.OpenAI, secret: str
) -> None:
    keys = admin.admin.organization.admin_api_keys
    made = keys.create(name="Terraform", expires_in_seconds=3600)
    assert made.value.startswith("sk-parley-")
    assert made.expires_at == pytest.approx(made.created_at + 3600, abs=5)
    assert made.id in [each.id for each in keys.list()]
    with openai.OpenAI(
        base_url=f"{product.url}/v1", admin_api_key=made.value, api_key="none", max_retries=0
    ) as reader:
        usage = reader.admin.organization.usage
        assert usage.costs(start_time=1_763_683_200, limit=1).object == "page"
        assert usage.completions(start_time=1_763_683_200, limit=1).object == "page"
    with program(product.url, made.value) as client:
        assert client.get("/v1/organization/projects").status_code == 200
        chat = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}]}
        assert client.post("/v1/chat/completions", json=chat).status_code == 403
    assert keys.delete(made.id).deleted
    with program(product.url, made.value) as client:
        assert client.get("/v1/organization/projects").status_code == 401
    with (
        openai.OpenAI(
            base_url=f"{product.url}/v1", admin_api_key=secret, api_key="none", max_retries=0
        ) as ordinary,
        pytest.raises(openai.PermissionDeniedError),
    ):
        ordinary.admin.organization.users.list()


def test_audit_log_names_what_was_done(admin: openai.OpenAI, developer: Person) -> None:
    organization = admin.admin.organization
    project = organization.projects.create(name="Audited")
    log = organization.audit_logs
    (event,) = log.list(event_types=["project.created"], resource_ids=[project.id])
    assert event.type == "project.created"
    assert event.actor is not None
    assert event.actor.api_key is not None
    assert event.actor.api_key.user is not None
    assert event.actor.api_key.user.email == developer.email
    first = log.list(limit=1)
    assert first.has_next_page()
    assert first.get_next_page().data[0].id != first.data[0].id


def test_roles_and_the_directorys_groups(
    product: Product, admin: openai.OpenAI, developer: Person
) -> None:
    organization = admin.admin.organization
    roles = {role.name: role for role in organization.roles.list()}
    assert set(roles) == {"owner", "admin", "reader", "finance", "viewer"}
    assert "members.write" in roles["admin"].permissions
    assert "members.write" not in roles["reader"].permissions
    assert organization.roles.retrieve("finance") == roles["finance"]
    (own,) = organization.users.roles.list(developer.me["user"]["id"])
    assert (own.name, own.predefined_role) == ("owner", True)

    directory = developer.browser.post("/api/organization/scim").json()
    with program(product.url, directory["token"]) as client:
        group = {
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"],
            "displayName": "engineers",
        }
        headers = {"Content-Type": "application/scim+json"}
        made = client.post("/api/scim/v2/Groups", json=group, headers=headers)
        assert made.status_code == 201, made.text
    (found,) = organization.groups.list()
    assert (found.id, found.name, found.is_scim_managed) == (made.json()["id"], "engineers", True)
    assert organization.groups.retrieve(found.id) == found
    assert list(organization.groups.users.list(found.id)) == []
    for change in (
        lambda: organization.groups.update(found.id, name="mine"),
        lambda: organization.groups.users.create(found.id, user_id=developer.me["user"]["id"]),
        lambda: organization.groups.delete(found.id),
    ):
        with pytest.raises(openai.ConflictError) as refused:
            change()
        assert refused.value.code == "scim_managed"
    with pytest.raises(openai.BadRequestError) as unsupported:
        organization.certificates.list()
    assert unsupported.value.code == "unsupported_endpoint"


def test_own_groups_their_people_and_the_roles_that_they_give(
    product: Product, admin: openai.OpenAI, developer: Person
) -> None:
    organization = admin.admin.organization
    joined = sign_up(product.url, invitation=developer.new_invitation()["url"].partition("#")[2])
    user = str(joined.me["user"]["id"])
    groups = organization.groups
    made = groups.create(name="Money")
    assert (made.name, made.is_scim_managed, made.group_type) == ("Money", False, "group")
    assert groups.update(made.id, name="Treasury").name == "Treasury"
    assert "Treasury" in [each.name for each in groups.list(limit=1)]  # page by page
    added = groups.users.create(made.id, user_id=user)
    assert (added.group_id, added.user_id) == (made.id, user)
    assert groups.users.retrieve(user, group_id=made.id).email == joined.email
    assert [each.id for each in groups.users.list(made.id)] == [user]

    given = groups.roles.create(made.id, role_id="finance")
    assert (given.role.name, given.group.name) == ("finance", "Treasury")
    assert [role.name for role in groups.roles.list(made.id)] == ["finance"]
    assert groups.roles.retrieve("finance", group_id=made.id).name == "finance"
    assert role_becomes(admin, user, "finance")
    assert groups.roles.delete("finance", group_id=made.id).deleted
    assert role_becomes(admin, user, "reader")

    roles = organization.users.roles
    assert roles.create(user, role_id="viewer").user.id == user
    assert roles.retrieve("viewer", user_id=user).name == "viewer"
    assert roles.delete("viewer", user_id=user).deleted
    with pytest.raises(openai.NotFoundError):
        roles.retrieve("viewer", user_id=user)
    with pytest.raises(openai.ConflictError):
        roles.delete("reader", user_id=user)
    assert groups.users.delete(user, group_id=made.id).deleted
    assert groups.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        groups.retrieve(made.id)
    joined.browser.close()


def role_becomes(admin: openai.OpenAI, user: str, role: str) -> bool:
    """Within seconds: the background gives what a group gives."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        (held,) = admin.admin.organization.users.roles.list(user)
        if held.name == role:
            return True
        time.sleep(0.1)
    return False


def test_embeddings_and_completions_are_counted_in_one_of_the_two_usages(
    admin: openai.OpenAI, client: openai.OpenAI
) -> None:
    usage = admin.admin.organization.usage
    span = {"start_time": int(time.time()) - 3600, "bucket_width": "1h"}

    def counted(kind: Any, **filters: Any) -> tuple[int, int]:
        results = [one for bucket in kind(**span, **filters).data for one in bucket.results]
        return (
            sum(one.num_model_requests for one in results),
            sum(one.input_tokens for one in results),
        )

    for groups in ([], ["model", "user_id", "api_key_id", "project_id"]):
        completed = counted(usage.completions, group_by=groups)
        embedded = counted(usage.embeddings, group_by=groups)
        tokens = client.embeddings.create(model="smollm2-135m", input="ebb").usage.prompt_tokens
        assert counted(usage.completions, group_by=groups) == completed
        assert counted(usage.embeddings, group_by=groups) == (embedded[0] + 1, embedded[1] + tokens)
        answer = client.chat.completions.create(
            model="smollm2-135m", messages=[{"role": "user", "content": "Hi"}], max_tokens=2
        )
        assert answer.usage is not None
        asked = answer.usage.prompt_tokens
        assert counted(usage.completions, group_by=groups) == (
            completed[0] + 1,
            completed[1] + asked,
        )
    assert counted(usage.completions, models=["another"]) == (0, 0)


def test_usage_of_embeddings_has_figures_and_that_of_images_is_empty(
    admin: openai.OpenAI, client: openai.OpenAI
) -> None:
    used = client.embeddings.create(model="smollm2-135m", input="high tide").usage.prompt_tokens
    usage = admin.admin.organization.usage
    start = int(time.time()) - 3600
    page = usage.embeddings(start_time=start, bucket_width="1h", group_by=["model"])
    results = [result for bucket in page.data for result in bucket.results]
    assert {result.object for result in results} == {"organization.usage.embeddings.result"}
    assert {result.model for result in results} == {"smollm2-135m"}
    assert sum(result.num_model_requests for result in results) >= 1
    assert sum(result.input_tokens for result in results) >= used
    other = usage.embeddings(start_time=start, bucket_width="1h", models=["another"])
    assert [bucket.results for bucket in other.data] == [[], []]
    for empty in (
        usage.moderations,
        usage.images,
        usage.vector_stores,
        usage.code_interpreter_sessions,
        usage.file_search_calls,
        usage.web_search_calls,
    ):
        page = empty(start_time=start, bucket_width="1d", limit=1)
        assert (page.object, page.data[0].results) == ("page", [])
    with pytest.raises(openai.BadRequestError) as refused:
        usage.embeddings(start_time=start, extra_query={"group_by[]": "colour"})
    assert refused.value.param == "group_by"
