"""Who sees whose usage, and who may change what an organization spends; all over HTTP."""

from collections.abc import AsyncIterator
from decimal import Decimal

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction

from backend.accounts.models import Organization
from backend.accounts.scopes import Scope
from billing.models import Budget, WebhookEndpoint
from billing.prices.services import prices_seed
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.api_users import ApiUser, api_user_new

pytestmark = pytest.mark.django_db(transaction=True)

ROLES = ("owner", "admin", "finance", "member")


@pytest.fixture
async def colleagues() -> AsyncIterator[dict[str, ApiUser]]:
    """One of each role in one organization; each has used 100 tokens and been answered 50."""
    organization = await sync_to_async(factories.organization_new)()
    made = {role: await api_user_new(role=role, organization=organization) for role in ROLES}
    await _use(*made.values())
    yield made
    for caller in made.values():
        await caller.http.aclose()


@sync_to_async
def _use(*callers: ApiUser) -> None:
    prices_seed(prices={factories.MODEL: {"input": "1", "cached_input": "1", "output": "2"}})
    for caller in callers:
        with transaction.atomic():
            usage_record_create(facts=factories.facts(caller.principal))


@pytest.mark.parametrize("role", ["owner", "admin", "finance"])
async def test_managers_see_the_usage_of_all_members(colleagues, role):
    usage = (await colleagues[role].get("/api/usage", group_by="user")).json()
    assert (usage["input_tokens"], len(usage["data"])) == (400, 4)


@pytest.mark.parametrize("group_by", [None, "day", "model", "key", "user"])
async def test_member_sees_their_own_usage_whatever_they_ask_for(colleagues, group_by):
    params = {"group_by": group_by} if group_by else {}
    usage = (await colleagues["member"].get("/api/usage", **params)).json()
    assert (usage["input_tokens"], usage["output_tokens"]) == (100, 50)
    assert Decimal(str(usage["cost_usd"])) == Decimal("0.2")
    rows = usage["data"]
    assert sum(row["input_tokens"] for row in rows) == (100 if group_by else 0)
    if group_by == "user":
        assert [row["key"] for row in rows] == [str(colleagues["member"].principal.user_id)]


@pytest.mark.parametrize("name", ["user_id", "user", "member", "organization_id"])
async def test_member_cannot_ask_for_the_usage_of_another_user(colleagues, name):
    """Parameters that do not exist change nothing."""
    other = colleagues["owner"].principal
    value = other.organization_id if name == "organization_id" else other.user_id
    usage = (await colleagues["member"].get("/api/usage", **{name: str(value)})).json()
    assert usage["input_tokens"] == 100


READS = ["/api/usage", "/api/budgets", "/api/credit", "/api/invoices", "/api/webhooks"]
BUDGET = {"amount": "5", "is_hard": True}
WEBHOOK = {"url": "https://example.com/hook", "types": ["invoice.issued"]}


async def test_key_restricted_to_usage_reads_and_changes_nothing(colleagues):
    """Even the owner's: whoever finds it can neither lift a limit nor redirect events."""
    organization = await sync_to_async(_organization_of)(colleagues["owner"])
    owner = colleagues["owner"]
    budget = (await owner.http.post("/api/budgets", json=BUDGET)).json()
    webhook = (await owner.http.post("/api/webhooks", json=WEBHOOK)).json()
    restricted = await api_user_new(role="owner", organization=organization, scopes=(Scope.USAGE,))
    async with restricted.http as http:
        for path in READS:
            assert (await http.get(path)).status_code == 200, path
        answers = [
            await http.post("/api/budgets", json={**BUDGET, "amount": "1000000"}),
            await http.delete(f"/api/budgets/{budget['id']}"),
            await http.post("/api/webhooks", json=WEBHOOK),
            await http.delete(f"/api/webhooks/{webhook['id']}"),
            await http.post(f"/api/webhooks/deliveries/{webhook['id']}/replay"),
        ]
    assert {answer.status_code for answer in answers} == {403}
    assert {answer.json()["error"]["code"] for answer in answers} == {"insufficient_scope"}
    kept = await Budget.objects.aget(organization=organization)
    assert kept.amount == Decimal("5")
    assert await WebhookEndpoint.objects.filter(organization=organization).acount() == 1


@pytest.mark.parametrize("scope", [Scope.INFERENCE, Scope.CONVERSATIONS, Scope.KEYS])
async def test_key_without_the_usage_scope_reads_nothing(colleagues, scope):
    organization = await sync_to_async(_organization_of)(colleagues["owner"])
    restricted = await api_user_new(role="owner", organization=organization, scopes=(scope,))
    async with restricted.http as http:
        for path in READS:
            assert (await http.get(path)).status_code == 403, path


@pytest.mark.parametrize("role", ROLES)
async def test_budgets_and_webhooks_are_set_by_managers_only(colleagues, role):
    expected = role != "member"
    answer = await colleagues[role].http.post("/api/budgets", json=BUDGET)
    assert (answer.status_code == 200) is expected
    answer = await colleagues[role].http.post("/api/webhooks", json=WEBHOOK)
    assert (answer.status_code == 201) is expected


def _organization_of(caller: ApiUser) -> Organization:
    return Organization.objects.get(pk=caller.principal.organization_id)
