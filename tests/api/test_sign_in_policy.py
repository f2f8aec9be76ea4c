"""An organization that demands a second factor is closed to members without one, but for their own
account; keys and the identity provider's sessions go on."""

import pytest
from allauth.mfa.models import Authenticator

from backend.accounts.models import APIKey, Organization, Role
from backend.accounts.principal import Principal
from backend.accounts.second_factors import factors_of
from backend.audit.models import AuditEvent
from backend.enterprise import gate
from backend.enterprise.gate import require_gate
from backend.enterprise.sign_in_policy import sign_in_policy_set
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied
from tests.api.accounts import NewBrowser, add_totp, code, new_user, signed_in
from tests.api.asgi_client import AsgiClient
from tests.factories import api_key_of, member

pytestmark = pytest.mark.usefixtures("transactional_db")

POLICY = "/api/organization/sign-in-policy"
DEMANDED = {"requires_second_factor": True}


async def test_owner_without_a_factor_cannot_demand_one(browser: NewBrowser) -> None:
    owner = await signed_in(browser, await new_user())
    refused = await owner.put(POLICY, json=DEMANDED)
    assert (refused.status_code, code(refused)) == (409, "second_factor_needed")
    assert (await owner.get(POLICY)).json() == {
        "requires_second_factor": False,
        "members_without": 1,
    }


async def test_member_sees_only_their_account_until_they_have_a_factor(
    browser: NewBrowser,
) -> None:
    user = await new_user()
    owner = await signed_in(browser, user)
    organization = await in_database(Organization.objects.get, memberships__user=user)
    colleague = await signed_in(
        browser, await new_user(organization=organization, role=Role.MEMBER)
    )
    await add_totp(owner)
    shown = await owner.put(POLICY, json=DEMANDED)
    assert shown.json() == {"requires_second_factor": True, "members_without": 1}
    [event] = await in_database(list, AuditEvent.objects.filter(action="sign_in_policy.updated"))
    assert event.details == DEMANDED

    assert (await owner.get("/api/conversations")).status_code == 200
    for path in ("/api/conversations", "/api/usage", "/api/keys", "/api/invoices"):
        refused = await colleague.get(path)
        assert (refused.status_code, code(refused)) == (403, "second_factor_required"), path
    assert (await colleague.get("/api/me")).json()["second_factor_due"] is True

    await add_totp(colleague)
    assert (await colleague.get("/api/me")).json()["second_factor_due"] is False
    assert (await colleague.get("/api/conversations")).status_code == 200


async def test_removed_factor_closes_what_is_open(
    browser: NewBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = await new_user()
    owner = await signed_in(browser, user)
    await add_totp(owner)
    await owner.put(POLICY, json=DEMANDED)
    assert (await owner.get("/api/conversations")).status_code == 200
    await in_database(factors_of(user.pk).delete)
    monkeypatch.setattr(gate, "GATE_TTL_S", 0.0)
    assert code(await owner.get("/api/conversations")) == "second_factor_required"


async def test_keys_and_the_providers_sessions_need_no_factor_here() -> None:
    principal, secret = await in_database(api_key_of)
    owner = await in_database(member, organization=await in_database(_organization, principal))
    await in_database(
        Authenticator.objects.create,
        user_id=owner.user_id,
        type=Authenticator.Type.TOTP,
        data={},
    )
    await in_database(sign_in_policy_set, principal=owner, requires_second_factor=True)
    async with AsgiClient(headers={"Authorization": f"Bearer {secret}"}) as program:
        assert (await program.get("/api/keys")).status_code == 200
    colleague = await in_database(
        member, organization=await in_database(_organization, principal), role=Role.MEMBER
    )
    own, other = str(colleague.organization_id), str(colleague.user_id)
    await require_gate(colleague, address="", sso_organization=own)
    for elsewhere in (None, other):
        with pytest.raises(PermissionDenied) as refused:
            await require_gate(colleague, address="", sso_organization=elsewhere)
        assert refused.value.code == "second_factor_required"


async def test_only_owners_see_and_change_it(browser: NewBrowser) -> None:
    client = await signed_in(browser, await new_user(role=Role.ADMIN))
    await add_totp(client)
    assert (await client.get(POLICY)).status_code == 403
    assert (await client.put(POLICY, json=DEMANDED)).status_code == 403


def _organization(owned: Principal | APIKey) -> Organization:
    return Organization.objects.get(pk=owned.organization_id)
