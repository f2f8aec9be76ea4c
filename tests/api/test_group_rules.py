"""Groups of the directory and the identity provider give roles and places in projects."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from backend.accounts.members import member_role_set
from backend.accounts.models import APIKey, Membership, Organization, Project, User
from backend.accounts.principal import Principal
from backend.accounts.projects import project_create
from backend.accounts.services import api_key_create
from backend.accounts.team_models import ProjectMember
from backend.audit.models import AuditEvent
from backend.enterprise.group_grants import groups_apply_to_all
from backend.enterprise.group_rules import Given, group_rules_set
from backend.enterprise.identities import clean_groups
from backend.enterprise.oidc import _groups
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest, PermissionDenied
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import (
    PASSWORD,
    oidc_of,
    oidc_provider,
    owner_with_domain,
    refusal,
    saml_of,
    through_oidc,
    through_saml,
)
from tests.api.test_scim import Directory
from tests.factories import member, principal_of
from tests.support.saml_provider import Answer, SAMLProvider, regroup

pytestmark = pytest.mark.usefixtures("transactional_db", "private_providers")


@pytest.fixture(scope="module")
def provider() -> Iterator[SAMLProvider]:
    served = SAMLProvider()
    yield served
    served.close()


def rules(principal: Principal, *given: Given) -> None:
    group_rules_set(principal=principal, rules=given)


def role_of(owner: Principal, email: str) -> str:
    place = {"organization_id": owner.organization_id, "user__email": email}
    return Membership.objects.get(**place).role


def places_of(owner: Principal, email: str) -> set[tuple[str, str]]:
    rows = ProjectMember.objects.filter(
        membership__organization_id=owner.organization_id, membership__user__email=email
    )
    return set(rows.values_list("project__name", "role"))


async def add_group(directory: Directory, name: str, *users: dict[str, Any]) -> dict[str, Any]:
    body = {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"],
        "displayName": name,
        "members": [{"value": user["id"]} for user in users],
    }
    answer = await directory.ask("POST", "Groups", body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_group_of_the_directory_gives_a_role_and_a_place_and_takes_them_back() -> None:
    async with await Directory.new() as directory:
        owner = directory.owner
        ada = await directory.add("ada")
        email = ada["userName"]
        project = await in_database(lambda: project_create(principal=owner, name="Search"))
        given = (Given("Leads", role="admin"), Given("Leads", "", project.pk, "owner"))
        await in_database(rules, owner, *given)
        group = await add_group(directory, "Leads", ada)
        assert await in_database(role_of, owner, email) == "admin"
        assert await in_database(places_of, owner, email) == {("Search", "owner")}
        key = await in_database(
            lambda: api_key_create(
                principal=principal_of(
                    Membership.objects.get(user__email=email, organization_id=owner.organization_id)
                ),
                name="k",
                project_id=project.pk,
            )[0]
        )
        remove = {"op": "remove", "path": f'members[value eq "{ada["id"]}"]'}
        assert (await directory.change(f"Groups/{group['id']}", remove)).status_code == 200
        assert await in_database(role_of, owner, email) == "member"
        assert await in_database(places_of, owner, email) == set()
        assert (await in_database(APIKey.objects.get, pk=key.pk)).revoked_at is not None
    log = await in_database(
        lambda: list(AuditEvent.objects.filter(actor_kind="scim").values_list("action", flat=True))
    )
    for action in ("user.updated", "project.user.added", "project.user.removed"):
        assert action in log


async def test_renamed_or_deleted_group_gives_nothing_any_more() -> None:
    async with await Directory.new() as directory:
        owner, ada = directory.owner, await directory.add("ada")
        await in_database(rules, owner, Given("Money", role="finance"))
        group = await add_group(directory, "Money", ada)
        assert await in_database(role_of, owner, ada["userName"]) == "finance"
        rename = {"op": "replace", "path": "displayName", "value": "Others"}
        await directory.change(f"Groups/{group['id']}", rename)
        assert await in_database(role_of, owner, ada["userName"]) == "member"
        back = {"op": "replace", "path": "displayName", "value": "Money"}
        await directory.change(f"Groups/{group['id']}", back)
        assert await in_database(role_of, owner, ada["userName"]) == "finance"
        await directory.ask("DELETE", f"Groups/{group['id']}")
        assert await in_database(role_of, owner, ada["userName"]) == "member"


async def test_group_makes_owners_only_where_the_table_says_so() -> None:
    async with await Directory.new() as directory:
        owner, ada = directory.owner, await directory.add("ada")
        await add_group(directory, "owner", ada)
        assert await in_database(role_of, owner, ada["userName"]) == "member"
        organization = await in_database(Organization.objects.get, pk=owner.organization_id)
        admin = await in_database(lambda: member(organization=organization, role="admin"))
        with pytest.raises(PermissionDenied):
            await in_database(rules, admin, Given("owner", role="owner"))
        await in_database(rules, admin, Given("owner", role="viewer"))
        await in_database(groups_apply_to_all, organization_id=owner.organization_id)
        assert await in_database(role_of, owner, ada["userName"]) == "viewer"
        await in_database(rules, owner, Given("owner", role="owner"))
        with pytest.raises(PermissionDenied):
            await in_database(rules, admin)
        await in_database(groups_apply_to_all, organization_id=owner.organization_id)
        assert await in_database(role_of, owner, ada["userName"]) == "owner"


async def test_owner_made_by_hand_and_the_last_one_stay_owners() -> None:
    async with await Directory.new() as directory:
        owner, ada = directory.owner, await directory.add("ada")
        ada_id = (await in_database(User.objects.get, email=ada["userName"])).pk
        await in_database(lambda: member_role_set(principal=owner, user_id=ada_id, role="owner"))
        await in_database(rules, owner, Given("All", role="viewer"))
        await add_group(directory, "All", ada)
        assert await in_database(role_of, owner, ada["userName"]) == "owner"
        # By a group, and then alone.
        await in_database(rules, owner, Given("All", role="owner"))
        await in_database(groups_apply_to_all, organization_id=owner.organization_id)
        await in_database(Membership.objects.filter(user_id=owner.user_id).update, role="member")
        [group] = (await directory.ask("GET", "Groups")).json()["Resources"]
        assert (await directory.ask("DELETE", f"Groups/{group['id']}")).status_code == 204
        assert await in_database(role_of, owner, ada["userName"]) == "owner"


async def test_groups_claim_of_oidc_gives_a_role_until_the_next_sign_in() -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    await in_database(rules, owner, Given("engineers", role="admin"))
    for groups, role in ((["engineers", "all"], "admin"), (["all"], "member")):
        claims = {"email": email, "email_verified": True, "roles": groups}
        with oidc_provider(("subject-1", claims)) as issuer:
            await in_database(oidc_of, owner, issuer, groups_claim="roles")
            async with AsgiClient() as browser:
                assert refusal(await through_oidc(browser, email, "subject-1")) == ""
        assert await in_database(role_of, owner, email) == role


async def test_groups_attribute_of_saml_gives_a_role_and_is_signed(
    provider: SAMLProvider,
) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    await in_database(saml_of, owner, provider)
    await in_database(rules, owner, Given("Admins", role="admin"))
    provider.answer = Answer(email, groups=("Staff",), change=regroup)
    async with AsgiClient() as browser:
        assert refusal(await through_saml(browser, email)) == "sso_refused"
    provider.answer = Answer(email, groups=("Admins", "Staff"))
    async with AsgiClient() as browser:
        assert refusal(await through_saml(browser, email)) == ""
    assert await in_database(role_of, owner, email) == "admin"


async def test_directory_outranks_the_claim(provider: SAMLProvider) -> None:
    async with await Directory.new() as directory:
        owner, ada = directory.owner, await directory.add("ada")
        await in_database(rules, owner, Given("Admins", role="admin"))
        await add_group(directory, "Others", ada)
        await in_database(saml_of, owner, provider)
        provider.answer = Answer(ada["userName"], groups=("Admins",))
        async with AsgiClient() as browser:
            assert refusal(await through_saml(browser, ada["userName"])) == ""
        assert await in_database(role_of, owner, ada["userName"]) == "member"


async def test_rules_of_another_organization_give_nothing(provider: SAMLProvider) -> None:
    owner, domain = await in_database(owner_with_domain)
    other, _ = await in_database(owner_with_domain)
    await in_database(rules, other, Given("Admins", role="admin"))
    await in_database(saml_of, owner, provider)
    provider.answer = Answer(f"ada@{domain}", groups=("Admins",))
    async with AsgiClient() as browser:
        assert refusal(await through_saml(browser, f"ada@{domain}")) == ""
    assert await in_database(role_of, owner, f"ada@{domain}") == "member"
    theirs = await in_database(Project.objects.get, organization_id=other.organization_id)
    with pytest.raises(InvalidRequest) as refused:
        await in_database(rules, owner, Given("Admins", "", theirs.pk))
    assert refused.value.param == "rules"


async def test_admins_edit_the_table_and_members_do_not() -> None:
    owner = await in_database(member, password=PASSWORD)
    organization = await in_database(Organization.objects.get, pk=owner.organization_id)
    body = {"rules": [{"group": " Leads ", "role": "viewer"}]}
    path = "/api/organization/group-rules"
    for role, status in (("admin", 200), ("member", 403)):
        place: dict[str, Any] = {
            "organization": organization,
            "role": role,
            "password": PASSWORD,
        }
        person = await in_database(partial(member, **place))
        email = (await in_database(User.objects.get, pk=person.user_id)).email
        async with AsgiClient() as browser:
            await browser.sign_in(email, PASSWORD)
            answer = await browser.put(path, json=body)
            assert answer.status_code == (await browser.get(path)).status_code == status
            if status == 200:
                assert [one["group"] for one in answer.json()["rules"]] == ["Leads"]


@pytest.mark.parametrize(
    "given",
    [
        [Given("A", role="admin"), Given("A", role="viewer")],
        [Given("A")],
        [Given(" ", role="admin")],
        [Given("A", role="boss")],
    ],
)
def test_malformed_rule_is_named(given: list[Given]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        rules(member(), *given)
    assert refused.value.param == "rules"


def test_groups_are_read_as_providers_write_them() -> None:
    assert clean_groups(["a", "a", 3, "", " b "]) == ("a", "b")
    assert clean_groups("one") == ("one",)
    assert clean_groups(None) == clean_groups({"a": 1}) == ()
    assert len(clean_groups([str(n) for n in range(9_000)])) == 500
    # Entra, of somebody in more groups than a token holds: the earlier ones stand.
    assert _groups({"_claim_names": {"groups": "src1"}}, "groups") is None
    assert _groups({}, "groups") == ()
