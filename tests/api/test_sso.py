"""Sign-in through an organization's identity provider: a real one signs, over loopback HTTP."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import jwt
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core.cache import cache

from backend.accounts.addresses import address_move
from backend.accounts.models import Membership, User
from backend.accounts.principal import Principal
from backend.accounts.services import own_organization_create
from backend.audit.models import AuditEvent
from backend.enterprise import oidc
from backend.enterprise.models import Connection, Identity, OIDCSettings
from backend.platform.database import in_database
from backend.platform.errors import Conflict, InvalidRequest, PermissionDenied, UpstreamFailed
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import (
    PASSWORD,
    at_oidc_provider,
    at_saml_provider,
    begin,
    oidc_of,
    oidc_provider,
    owner_with_domain,
    refusal,
    saml_of,
    through_oidc,
    through_saml,
)
from tests.factories import member
from tests.support.saml_provider import Answer, SAMLProvider, rename, wrap

pytestmark = pytest.mark.usefixtures("transactional_db", "private_providers")


@pytest.fixture
async def browser() -> AsyncIterator[AsgiClient]:
    async with AsgiClient() as client:
        yield client


@pytest.fixture(scope="module")
def provider() -> Iterator[SAMLProvider]:
    served = SAMLProvider()
    yield served
    served.close()


def person(email: str, **claims: Any) -> tuple[str, dict[str, Any]]:
    return "subject-1", {"email": email, "email_verified": True, "name": "Ada", **claims}


# --- Joining ---------------------------------------------------------------------------------


async def test_newcomer_joins_by_oidc_without_a_password(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    with oidc_provider(person(email)) as issuer:
        connection = await in_database(oidc_of, owner, issuer)
        assert refusal(await through_oidc(browser, email, "subject-1")) == ""
    me = (await browser.get("/api/me")).json()
    assert (me["user"]["email"], me["role"]) == (email, "member")
    assert me["organization"]["id"] == str(owner.organization_id)
    assert [one["id"] for one in me["organizations"]] == [str(owner.organization_id)]
    user = await in_database(User.objects.get, email=email)
    assert not user.has_usable_password()
    identity = await in_database(Identity.objects.get, connection=connection)
    assert (identity.subject, identity.user_id) == ("subject-1", user.pk)
    log = await in_database(lambda: list(AuditEvent.objects.filter(actor_id=user.pk)))
    assert [event.action for event in log] == ["login.succeeded", "user.added"]
    assert log[0].details == {"method": "sso:oidc"}


async def test_newcomer_joins_by_saml(browser: AsgiClient, provider: SAMLProvider) -> None:
    owner, domain = await in_database(owner_with_domain)
    connection = await in_database(saml_of, owner, provider)
    provider.answer = Answer(f"grace@{domain}")
    assert refusal(await through_saml(browser, f"x@{domain}")) == ""
    me = (await browser.get("/api/me")).json()
    assert me["user"]["email"] == f"grace@{domain}"
    metadata = await browser.get(f"/api/auth/sso/saml/{connection.pk}/metadata")
    assert f"/api/auth/sso/saml/{connection.pk}/acs" in metadata.text


async def test_signing_out_goes_on_to_the_provider_that_began_the_session(
    browser: AsgiClient, settings: Any
) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    with oidc_provider(person(email)) as issuer:
        await in_database(oidc_of, owner, issuer)
        assert refusal(await through_oidc(browser, email, "subject-1")) == ""
        answer = await browser.post("/api/auth/logout")
        assert (await browser.get("/api/me")).status_code == 401
        url = urlsplit(answer.json()["url"])
        query = parse_qs(url.query)
        assert f"{url.scheme}://{url.netloc}" == issuer
        assert query["client_id"] == ["parley"]
        claims = jwt.decode(query["id_token_hint"][0], options={"verify_signature": False})
        assert (claims["sub"], claims["iss"]) == ("subject-1", issuer)
        async with httpx.AsyncClient() as client:
            assert (await client.get(answer.json()["url"])).status_code == 200
        assert refusal(await through_oidc(browser, email, "subject-1")) == ""
    await cache.aclear()  # the provider is gone: that keeps nobody signed in
    assert (await browser.post("/api/auth/logout")).status_code == 204
    assert (await browser.get("/api/me")).status_code == 401


async def test_session_of_a_password_signs_out_here_alone(browser: AsgiClient) -> None:
    boss = {"email": "boss@example.org", "password": PASSWORD}
    owner, domain = await in_database(owner_with_domain, **boss)
    with oidc_provider(person(f"ada@{domain}")) as issuer:
        await in_database(oidc_of, owner, issuer)
        await browser.get("/")
        assert (await browser.post("/api/auth/login", json=boss)).status_code == 200
        assert (await browser.post("/api/auth/logout")).status_code == 204


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"issuer": "https://another.example.com"}, "it calls itself"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "is no web address"),
        ({"end_session_endpoint": "data:text/html,x"}, "is no web address"),
        ({"token_endpoint": None}, "has no token_endpoint"),
    ],
)
async def test_metadata_of_another_issuer_or_with_a_script_is_refused(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], says: str
) -> None:
    owner, _ = await in_database(owner_with_domain)
    issuer = "https://idp.example.com"
    connection = await in_database(oidc_of, owner, issuer)
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint")
    metadata = {"issuer": issuer, **{name: f"{issuer}/{name}" for name in names}, **changed}

    async def get_json(url: str) -> dict[str, Any]:
        assert url == f"{issuer}/.well-known/openid-configuration"
        return metadata

    monkeypatch.setattr(oidc, "get_json", get_json)
    await cache.aclear()
    with pytest.raises(UpstreamFailed, match=says):
        await oidc.authorization_url(connection, oidc.Attempt.new())


# --- What an answer must not do ---------------------------------------------------------------


async def test_provider_cannot_speak_for_an_address_of_another_organization(
    browser: AsgiClient,
) -> None:
    owner, domain = await in_database(owner_with_domain)
    victim, foreign = await in_database(owner_with_domain)
    email = f"boss@{foreign}"
    await in_database(lambda: User.objects.filter(pk=victim.user_id).update(email=email))
    with oidc_provider(person(email)) as issuer:
        await in_database(oidc_of, owner, issuer)
        answer = await through_oidc(browser, f"x@{domain}", "subject-1")
    assert refusal(answer) == "sso_foreign_address"
    assert (await browser.get("/api/me")).status_code == 401
    assert not await in_database(Identity.objects.exists)


@pytest.mark.parametrize("side", ["provider", "account"])
async def test_unverified_address_takes_no_account_over(browser: AsgiClient, side: str) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    victim = await in_database(member, email=email, password=PASSWORD)
    if side == "account":
        await in_database(lambda: EmailAddress.objects.filter(email=email).update(verified=False))
    with oidc_provider(person(email, email_verified=side != "provider")) as issuer:
        await in_database(oidc_of, owner, issuer)
        answer = await through_oidc(browser, email, "subject-1")
    assert refusal(answer) == "sso_unverified_address"
    assert not await in_database(Identity.objects.filter(user_id=victim.user_id).exists)


async def test_answer_of_another_browser_or_a_second_time_is_refused(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    with oidc_provider(person(email)) as issuer:
        await in_database(oidc_of, owner, issuer)
        back = await at_oidc_provider(await begin(browser, email), "subject-1")
        async with AsgiClient() as victim:
            assert refusal(await victim.get(back)) == "sso_refused"
        parts = parse_qs(urlsplit(back).query)
        forged = urlencode({"code": parts["code"][0], "state": "invented"})
        assert refusal(await browser.get(f"/api/auth/sso/oidc/callback?{forged}")) == "sso_refused"
        assert refusal(await browser.get(back)) == ""
        assert refusal(await browser.get(back)) == "sso_refused"


async def test_code_of_another_sign_in_is_refused_by_its_nonce(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    with oidc_provider(person(email)) as issuer:
        await in_database(oidc_of, owner, issuer)
        async with AsgiClient() as attacker:
            theirs = await at_oidc_provider(await begin(attacker, email), "subject-1")
        stolen = parse_qs(urlsplit(theirs).query)["code"][0]
        url = await begin(browser, email)
        state = parse_qs(urlsplit(url).query)["state"][0]
        query = urlencode({"code": stolen, "state": state})
        assert refusal(await browser.get(f"/api/auth/sso/oidc/callback?{query}")) == "sso_refused"
    assert (await browser.get("/api/me")).status_code == 401


SAML_ATTACKS: dict[str, dict[str, Any]] = {
    "unsigned": {"is_signed": False},
    "wrapped": {"change": wrap},
    "renamed": {"change": rename},
    "wrong audience": {"audience": "https://other.example.com"},
    "wrong issuer": {"issuer": "https://other.example.com"},
    "expired": {"valid_s": -300},
    "external entity": {"doctype": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'},
    "not of this browser": {"in_response_to": "_another"},
}


@pytest.mark.parametrize("attack", SAML_ATTACKS.values(), ids=SAML_ATTACKS.keys())
async def test_forged_assertion_is_refused(
    browser: AsgiClient, provider: SAMLProvider, attack: dict[str, Any]
) -> None:
    owner, domain = await in_database(owner_with_domain)
    await in_database(saml_of, owner, provider)
    provider.answer = Answer(f"ada@{domain}", **attack)
    assert refusal(await through_saml(browser, f"ada@{domain}")) == "sso_refused"
    assert (await browser.get("/api/me")).status_code == 401
    assert not await in_database(Identity.objects.exists)
    if "in_response_to" not in attack:  # of another's sign-in: nobody's here
        failed = await in_database(AuditEvent.objects.get, action="login.failed")
        assert failed.organization_id == owner.organization_id
        assert (failed.details["reason"], failed.details["method"]) == ("sso_refused", "sso:saml")
        assert "identity provider's answer" in failed.details["why"]


async def test_assertion_is_good_once(browser: AsgiClient, provider: SAMLProvider) -> None:
    owner, domain = await in_database(owner_with_domain)
    connection = await in_database(saml_of, owner, provider)
    provider.answer = Answer(f"ada@{domain}")
    path, form = await at_saml_provider(await begin(browser, f"ada@{domain}"))
    first = await browser.post(path, data=form)
    assert refusal(await browser.post(path, data=form)) == "sso_refused"
    async with AsgiClient() as other:
        assert refusal(await other.get(first.headers["location"])) == "sso_refused"
    assert refusal(await browser.get(first.headers["location"])) == "sso_refused"
    assert not await in_database(Identity.objects.filter(connection=connection).exists)


async def test_assertion_of_another_providers_key_is_refused(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    real, false = SAMLProvider(Answer(f"ada@{domain}")), SAMLProvider(Answer(f"ada@{domain}"))
    try:
        await in_database(saml_of, owner, real)
        false.answer.issuer = f"{real.url}/metadata"
        url = await begin(browser, f"ada@{domain}")
        path, form = await at_saml_provider(url.replace(real.url, false.url))
        assert refusal(await browser.post(path, data=form)) == "sso_refused"
    finally:
        real.close()
        false.close()


# --- Forced, and who sets it ------------------------------------------------------------------


async def test_forced_sign_in_refuses_passwords_but_the_owners(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain, email="boss@x.example.com")

    def prepare() -> str:
        User.objects.filter(pk=owner.user_id).update(email=f"boss@{domain}")
        EmailAddress.objects.filter(user_id=owner.user_id).update(email=f"boss@{domain}")
        boss = User.objects.get(pk=owner.user_id)
        boss.set_password(PASSWORD)
        boss.save()
        Authenticator.objects.create(user=boss, type="totp", data={"secret": "x"})
        organization = Membership.objects.get(user=boss).organization
        member(organization=organization, role="member", email=f"ada@{domain}", password=PASSWORD)
        oidc_of(owner, "https://idp.example.com", is_forced=True)
        return boss.email

    boss = await in_database(prepare)
    refused = await browser.sign_in(f"ada@{domain}", PASSWORD)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "sso_required")
    wrong = await browser.sign_in(f"ada@{domain}", "wrong")
    assert wrong.status_code == 401
    assert (await browser.sign_in(boss, PASSWORD)).status_code == 202


async def test_forced_sign_in_leaves_other_organizations_their_passwords(
    browser: AsgiClient,
) -> None:
    owner, domain = await in_database(owner_with_domain)

    def prepare() -> Principal:
        Authenticator.objects.create(user_id=owner.user_id, type="totp", data={"secret": "x"})
        organization = Membership.objects.get(user_id=owner.user_id).organization
        employee = member(organization=organization, role="member", password=PASSWORD)
        user = User.objects.get(pk=employee.user_id)
        address_move(user=user, email=f"ada@{domain}")
        own_organization_create(owner=user, name="Hers")
        oidc_of(owner, "https://idp.example.com", is_forced=True)
        return employee

    employee = await in_database(prepare)
    signed_in = await browser.sign_in(f"ada@{domain}", PASSWORD)
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["organization"]["name"] == "Hers"
    assert (await browser.get("/api/conversations")).status_code == 200
    employer = {"organization_id": str(employee.organization_id)}
    assert (await browser.patch("/api/me", json=employer)).status_code == 200
    answer = await browser.get("/api/conversations")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "sso_required")


async def test_guest_with_a_password_does_not_enter_a_forced_organization(
    browser: AsgiClient,
) -> None:
    owner, _ = await in_database(owner_with_domain)

    def prepare() -> str:
        Authenticator.objects.create(user_id=owner.user_id, type="totp", data={"secret": "x"})
        organization = Membership.objects.get(user_id=owner.user_id).organization
        guest = member(organization=organization, role="member", password=PASSWORD)
        oidc_of(owner, "https://idp.example.com", is_forced=True)
        return User.objects.get(pk=guest.user_id).email

    email = await in_database(prepare)
    assert (await browser.sign_in(email, PASSWORD)).status_code == 200
    answer = await browser.get("/api/conversations")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "sso_required")


def test_sign_in_is_not_forced_without_domain_and_second_factor() -> None:
    owner = member()
    with pytest.raises(Conflict) as refused:
        oidc_of(owner, "https://idp.example.com", is_forced=True)
    assert refused.value.code == "second_factor_needed"
    Authenticator.objects.create(user_id=owner.user_id, type="totp", data={"secret": "x"})
    with pytest.raises(Conflict) as refused:
        oidc_of(owner, "https://idp.example.com", is_forced=True)
    assert refused.value.code == "no_verified_domain"


@pytest.mark.parametrize("role", ["admin", "member"])
def test_only_owners_set_the_provider(role: str) -> None:
    with pytest.raises(PermissionDenied):
        oidc_of(member(role=role), "https://idp.example.com")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"issuer": "https://127.0.0.1@evil.example"}, "issuer"),
        ({"issuer": "http://idp.example.com"}, "issuer"),
        ({"issuer": "file:///etc/passwd"}, "issuer"),
        ({"default_role": "owner"}, "default_role"),
        ({"client_id": ""}, "client_id"),
        ({"client_secret": None}, "client_secret"),
        (
            {"protocol": "saml", "sso_url": "https://idp.example.com/", "certificates": "x"},
            "certificates",
        ),
    ],
)
def test_wrong_setting_is_named(settings: Any, fields: dict[str, Any], param: str) -> None:
    settings.SSO_TO_PRIVATE = False
    with pytest.raises(InvalidRequest) as refused:
        oidc_of(member(), **{"issuer": "https://idp.example.com", **fields})
    assert refused.value.param == param
    assert not Connection.objects.exists()


@pytest.mark.parametrize("issuer", ["https://127.0.0.1/", "http://idp.example.com/"])
def test_private_address_names_its_switch(settings: Any, issuer: str) -> None:
    settings.SSO_TO_PRIVATE = False
    with pytest.raises(InvalidRequest) as refused:
        oidc_of(member(), issuer)
    assert (refused.value.code, refused.value.param) == ("address_not_public", "issuer")
    assert refused.value.details == {"setting": "PARLEY_SSO_TO_PRIVATE"}
    assert str(refused.value).endswith("set PARLEY_SSO_TO_PRIVATE=1.")


async def test_provider_at_a_private_address_is_not_called(
    browser: AsgiClient, settings: Any
) -> None:
    owner, domain = await in_database(owner_with_domain)
    await in_database(oidc_of, owner, "https://localhost:9/")
    settings.SSO_TO_PRIVATE = False
    await browser.get("/")
    answer = await browser.post("/api/auth/sso", json={"email": f"a@{domain}"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "sso_unavailable")


def test_client_secret_is_encrypted_and_kept_when_left_out() -> None:
    owner = member()
    first = oidc_of(owner, "https://idp.example.com")
    stored = OIDCSettings.objects.get(connection=first).encrypted_secret
    assert "the client's own" not in stored
    again = oidc_of(owner, "https://idp.example.com", client_secret=None, client_id="two")
    assert OIDCSettings.objects.get(connection=again).encrypted_secret == stored
    with pytest.raises(InvalidRequest):  # not sent to whoever is named now
        oidc_of(owner, "https://other.example.com", client_secret=None)


async def test_settings_need_a_recent_sign_in_and_show_no_secret(browser: AsgiClient) -> None:
    owner = await in_database(member, password=PASSWORD)
    email = (await in_database(User.objects.get, pk=owner.user_id)).email
    await browser.sign_in(email, PASSWORD)
    body = {
        "protocol": "oidc",
        "issuer": "https://idp.example.com",
        "client_id": "parley",
        "client_secret": "hush-hush",
        "is_enabled": False,
    }
    answer = await browser.put("/api/organization/sso", json=body)
    assert answer.status_code == 200, answer.text
    assert "hush-hush" not in (await browser.get("/api/organization/sso")).text
    assert (await browser.delete("/api/organization/sso")).status_code == 204
    assert (await browser.get("/api/organization/sso")).json()["connection"] is None


async def test_issuer_that_does_not_answer_is_not_enabled(browser: AsgiClient) -> None:
    owner, _ = await in_database(lambda: owner_with_domain(password=PASSWORD))
    email = (await in_database(User.objects.get, pk=owner.user_id)).email
    await browser.sign_in(email, PASSWORD)
    body = {"protocol": "oidc", "client_id": "parley", "client_secret": "hush-hush"}
    for issuer in ("http://localhost:9", "https://localhost:9", "https://10.0.0.1"):
        answer = await browser.put("/api/organization/sso", json={**body, "issuer": issuer})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "issuer"), issuer
    assert not await in_database(Connection.objects.exists)
    with oidc_provider() as issuer:
        answer = await browser.put("/api/organization/sso", json={**body, "issuer": issuer})
        assert answer.status_code == 200, answer.text


async def test_sign_in_leads_on_to_the_page_that_was_asked_for(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    with oidc_provider(person(email)) as issuer:
        await in_database(oidc_of, owner, issuer)
        await browser.get("/")
        for path in ("//evil.example", "/\\evil.example", "https://evil.example", "evil"):
            answer = await browser.post("/api/auth/sso", json={"email": email, "next": path})
            assert answer.status_code == 400, path
        begun = await browser.post("/api/auth/sso", json={"email": email, "next": "/c/42"})
        back = await at_oidc_provider(begun.json()["url"], "subject-1")
        assert (await browser.get(back)).headers["location"] == "/c/42"
